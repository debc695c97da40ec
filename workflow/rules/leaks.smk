"""What a release is held back for: leaks between splits, and answers that need no looking.

Inputs: studies, sentences, questions with their parts. Outputs: scores, nearest pairs by id, the
verdict gate.json, which the release requires to have passed. Steps: evaluate_leaks, table_leaks.
"""


rule evaluate_leaks:
    input:
        studies=shards_of("prepare_studies", "studies"),
        sentences=shards_of("extract_sentences", "sentences"),
        questions=shards_of("generate_qa", "questions"),
        answers=shards_of("generate_qa", "answers"),
    output:
        scores="<results>/evaluate_leaks/scores.parquet",
        pairs="<results>/evaluate_leaks/pairs.parquet",
        gate="<results>/evaluate_leaks/gate.json",
    log:
        "<logs>/evaluate_leaks.log",
    benchmark:
        "<benchmarks>/evaluate_leaks.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=16000,
        runtime=240,
    params:
        code=code("evaluate_leaks"),
        settings=settings(
            {
                "dataset": DATASET.title,
                "leaks": DATASET.evaluate.leaks.model_dump(),
            }
        ),
    message:
        "evaluate_leaks: splits against each other, answers without looking"
    shell:
        "step evaluate_leaks --studies {input.studies} --sentences {input.sentences}"
        " --questions {input.questions} --answers {input.answers}"
        " --scores {output.scores} --pairs {output.pairs} --gate {output.gate}"
        " --settings {params.settings:q} --log {log} # code {params.code}"


rule table_leaks:
    input:
        scores="<results>/evaluate_leaks/scores.parquet",
        gate="<results>/evaluate_leaks/gate.json",
    output:
        csv="<results>/tables/table_leaks.csv",
        markdown="<results>/tables/table_leaks.md",
        html=report(
            "<results>/tables/table_leaks.html",
            caption="../report/table_leaks.rst",
            category="5 Leaks and balance",
            labels={"item": "Table, ours", "what": "splits and balance"},
        ),
    log:
        "<logs>/table_leaks.log",
    benchmark:
        "<benchmarks>/table_leaks.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("table_leaks"),
        settings=settings({"title": DATASET.title}),
    message:
        "table_leaks"
    shell:
        "step table_leaks --scores {input.scores} --gate {input.gate}"
        " --csv {output.csv} --markdown {output.markdown} --settings {params.settings:q}"
        " --log {log} # code {params.code}"
