"""Question-answer generation (paper Sec. 3.2, E.2).

Inputs: scene graphs, statistics over all graphs, templates. Outputs per shard: questions,
their answer parts, questions skipped and why. Step: generate_qa.
"""


rule generate_qa:
    input:
        graphs="<results>/build_graphs/{shard}.graphs.parquet",
        observations="<results>/build_graphs/{shard}.observations.parquet",
        regions="<results>/build_graphs/{shard}.regions.parquet",
        statistics=(
            "<results>/graph_statistics/statistics.parquet"
            if DATASET.qa.statistics == "computed"
            else DATASET.qa.statistics
        ),
    output:
        questions="<results>/generate_qa/{shard}.questions.parquet",
        answers="<results>/generate_qa/{shard}.answers.parquet",
        skipped="<results>/generate_qa/{shard}.skipped.parquet",
        ledger="<results>/generate_qa/{shard}.ledger.parquet",
    log:
        "<logs>/generate_qa/{shard}.log",
    benchmark:
        "<benchmarks>/generate_qa/{shard}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=4000,
        runtime=120,
    params:
        code=code("generate_qa"),
        templates=templates_hash(),
        reference=reference_hash(),
        settings=settings(DATASET.qa.model_dump()),
    message:
        "generate_qa: shard {wildcards.shard}"
    shell:
        "step generate_qa --graphs {input.graphs}"
        " --graph-observations {input.observations} --graph-regions {input.regions}"
        " --statistics {input.statistics} --templates resources/templates"
        " --reference resources/reference --questions {output.questions}"
        " --answers {output.answers}"
        " --skipped {output.skipped} --ledger {output.ledger} --settings {params.settings:q}"
        " --shard {wildcards.shard} --log {log} # code {params.code}"
