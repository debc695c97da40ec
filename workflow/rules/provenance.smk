"""Accounting of everything that came in, went on or was lost, and what the run was made of.

Inputs: studies, statuses and ledgers of all steps. Output: counts by step and reason; the step
fails if a study is neither passed on nor in a ledger. Last comes the record of the run with
checksums of all results. Steps: account_studies, summarize_run, provenance.
"""


rule account_studies:
    input:
        studies=shards_of("prepare_studies", "studies"),
        image_status=shards_of("segment_anatomy", "status"),
        ledgers=ledgers(),
        statuses=(
            shards_of("extract_sentences", "status")
            + shards_of("extract_observations", "status")
            + shards_of("extract_indication", "status")
            if DATASET.has_reports
            else []
        ),
        graphs=shards_of("build_graphs", "graphs") if DATASET.has_reports else [],
        observations=(
            shards_of("build_graphs", "observations") if DATASET.has_reports else []
        ),
        questions=shards_of("generate_qa", "questions") if DATASET.has_reports else [],
        answers=shards_of("generate_qa", "answers") if DATASET.has_reports else [],
        skipped=shards_of("generate_qa", "skipped") if DATASET.has_reports else [],
        rated=shards_of("rate_qa", "rated") if DATASET.has_reports else [],
    output:
        accounting="<results>/account_studies/accounting.parquet",
    log:
        "<logs>/account_studies.log",
    benchmark:
        "<benchmarks>/account_studies.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        code=code("account_studies"),
    message:
        "account_studies: studies in, out and lost"
    shell:
        "step account_studies --studies {input.studies}"
        " --image-status {input.image_status} --ledgers {input.ledgers}"
        " --statuses {input.statuses} --graphs {input.graphs}"
        " --observations {input.observations} --questions {input.questions}"
        " --answers {input.answers}"
        " --skipped {input.skipped} --rated {input.rated} --accounting {output.accounting}"
        " --log {log} # code {params.code}"


rule summarize_run:
    input:
        accounting="<results>/account_studies/accounting.parquet",
        rated=shards_of("rate_qa", "rated") if DATASET.has_reports else [],
        scores="<results>/evaluate_labels/scores.parquet" if DATASET.has_reports else [],
    output:
        summary="<results>/summary.txt",
    log:
        "<logs>/summarize_run.log",
    benchmark:
        "<benchmarks>/summarize_run.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=code("summarize_run"),
        settings=settings(
            {
                "title": DATASET.title,
                "open_first": f"{RESULTS}/index.html",
            }
        ),
    message:
        "summarize_run: what was made"
    shell:
        "step summarize_run --accounting {input.accounting}"
        " --rated {input.rated} --scores {input.scores} --summary {output.summary}"
        " --settings {params.settings:q} --log {log} # code {params.code}"


rule provenance:
    input:
        targets(),
    output:
        record="<results>/provenance/run.json",
        crate="<results>/provenance/ro-crate-metadata.json",
        workflow="<results>/provenance/Snakefile",
        sums="<results>/provenance/SHA256SUMS",
    log:
        "<logs>/provenance.log",
    benchmark:
        "<benchmarks>/provenance.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=240,  # every byte of the results is read once
    params:
        code=code("provenance"),
        settings=settings({"dataset": DATASET.model_dump()}),
    message:
        "provenance: what the run was made of, checksums of all results"
    shell:
        "step provenance --sums {output.sums} --settings {params.settings:q}"
        " --log {log} # code {params.code}"
