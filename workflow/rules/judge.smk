"""Judging and rating (paper Sec. 3.3, D.3, E.3).

Inputs: questions, reports, extraction quality. Outputs per shard: judgements by criterion, ratings
of questions and answer parts; per dataset: how far the judge can be trusted. Steps: judge_qa,
rate_qa, evaluate_judge, evaluate_agreement; plan_judge, asked for by what a model judges, and
review_sheet, asked for by name.
"""

VOCABULARY = expand(
    "resources/judge/{table}.csv", table=["findings", "groups", "regions"]
)


rule plan_judge:
    input:
        questions=shards_of("generate_qa", "questions"),
        answers=shards_of("generate_qa", "answers"),
    output:
        views=expand(
            "<results>/plan_judge/{bucket}.views.parquet",
            bucket=range(DATASET.judge.buckets),
        ),
    log:
        "<logs>/plan_judge.log",
    benchmark:
        "<benchmarks>/plan_judge.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=16000,
        runtime=240,
    params:
        code=code("plan_judge"),
        settings=settings(DATASET.judge.model_dump()),
    message:
        "plan_judge: distinct questions and answers of all shards"
    shell:
        "step plan_judge --questions {input.questions} --answers {input.answers}"
        " --views {output.views}"
        " --settings {params.settings:q} --log {log} # code {params.code}"


rule judge_qa:
    input:
        studies="<results>/prepare_studies/{shard}.studies.parquet",
        questions="<results>/generate_qa/{shard}.questions.parquet",
        answers="<results>/generate_qa/{shard}.answers.parquet",
        vocabulary=VOCABULARY,
    output:
        judgements="<results>/judge_qa/{shard}.judgements.parquet",
        ledger="<results>/judge_qa/{shard}.ledger.parquet",
    log:
        "<logs>/judge_qa/{shard}.log",
    benchmark:
        "<benchmarks>/judge_qa/{shard}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=4000,
        runtime=240,
    params:
        code=code("judge_qa"),
        settings=settings(DATASET.judge.model_dump()),
    message:
        "judge_qa: shard {wildcards.shard}"
    shell:
        "step judge_qa --studies {input.studies} --questions {input.questions}"
        " --answers {input.answers} --vocabulary resources/judge --judgements {output.judgements}"
        " --ledger {output.ledger} --settings {params.settings:q} --shard {wildcards.shard}"
        " --log {log} # code {params.code}"


rule rate_qa:
    input:
        questions="<results>/generate_qa/{shard}.questions.parquet",
        answers="<results>/generate_qa/{shard}.answers.parquet",
        judgements="<results>/judge_qa/{shard}.judgements.parquet",
        images="<results>/prepare_studies/{shard}.images.parquet",
    output:
        rated="<results>/rate_qa/{shard}.rated.parquet",
        rated_answers="<results>/rate_qa/{shard}.rated_answers.parquet",
    log:
        "<logs>/rate_qa/{shard}.log",
    benchmark:
        "<benchmarks>/rate_qa/{shard}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        code=code("rate_qa"),
    message:
        "rate_qa: shard {wildcards.shard}"
    shell:
        "step rate_qa --questions {input.questions} --answers {input.answers}"
        " --judgements {input.judgements} --images {input.images} --rated {output.rated}"
        " --rated-answers {output.rated_answers} --shard {wildcards.shard} --log {log}"
        " # code {params.code}"


rule evaluate_judge:
    input:
        studies=shards_of("prepare_studies", "studies"),
        sentences=shards_of("extract_sentences", "sentences"),
        observations=shards_of("build_graphs", "observations"),
        answers=shards_of("generate_qa", "answers"),
        judgements=shards_of("judge_qa", "judgements"),
        gold=gold("extraction"),
        vocabulary=VOCABULARY,
        pairs="resources/judge/planted.csv",
    output:
        scores="<results>/evaluate_judge/scores.parquet",
        misses="<results>/evaluate_judge/misses.parquet",
    log:
        "<logs>/evaluate_judge.log",
    benchmark:
        "<benchmarks>/evaluate_judge.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        code=code("evaluate_judge"),
        reference=reference_hash(),
        settings=evaluation()["extraction"],
    message:
        "evaluate_judge: planted and natural errors"
    shell:
        "step evaluate_judge --studies {input.studies} --sentences {input.sentences}"
        " --observations {input.observations} --answers {input.answers}"
        " --judgements {input.judgements} --reference resources/reference"
        " --vocabulary resources/judge --pairs {input.pairs} --scores {output.scores}"
        " --misses {output.misses} --settings {params.settings:q} --log {log}"
        " # code {params.code}"


SECOND = DATASET.evaluate.second_judge


rule evaluate_agreement:
    input:
        questions=shards_of("generate_qa", "questions"),
        answers=shards_of("generate_qa", "answers"),
        images=shards_of("prepare_studies", "images"),
        judgements=shards_of("judge_qa", "judgements"),
        ratings=[r.path for r in DATASET.evaluate.ratings],
        second=(
            expand(f"{SECOND.path}/{{shard}}.judgements.parquet", shard=SHARDS)
            if SECOND
            else []
        ),
    output:
        scores="<results>/evaluate_agreement/scores.parquet",
        confusion="<results>/evaluate_agreement/confusion.parquet",
    log:
        "<logs>/evaluate_agreement.log",
    benchmark:
        "<benchmarks>/evaluate_agreement.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=8000,
        runtime=60,
    params:
        code=code("evaluate_agreement"),
        settings=settings(
            {"bootstrap": DATASET.evaluate.bootstrap, "seed": DATASET.evaluate.seed}
        ),
    message:
        "evaluate_agreement: the judge beside people and another judge"
    shell:
        "step evaluate_agreement --questions {input.questions} --answers {input.answers}"
        " --images {input.images}"
        " --judgements {input.judgements} --ratings {input.ratings}"
        " --second {input.second} --scores {output.scores} --confusion {output.confusion}"
        " --settings {params.settings:q} --log {log} # code {params.code}"


rule review_sheet:
    input:
        studies=shards_of("prepare_studies", "studies"),
        questions=shards_of("generate_qa", "questions"),
        answers=shards_of("generate_qa", "answers"),
        judgements=shards_of("judge_qa", "judgements"),
    output:
        csv="<results>/review_sheet/sheet.csv",
        html="<results>/review_sheet/sheet.html",
    log:
        "<logs>/review_sheet.log",
    benchmark:
        "<benchmarks>/review_sheet.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=8000,
        runtime=60,
    params:
        code=code("review_sheet"),
        settings=settings(
            {"title": DATASET.title, "review": DATASET.evaluate.review.model_dump()}
        ),
    message:
        "review_sheet: cases for people to rate"
    shell:
        "step review_sheet --studies {input.studies} --questions {input.questions}"
        " --answers {input.answers}"
        " --judgements {input.judgements} --csv {output.csv} --html {output.html}"
        " --settings {params.settings:q} --log {log} # code {params.code}"
