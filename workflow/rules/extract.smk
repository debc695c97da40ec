"""The three extraction passes (paper Sec. 3.1, E.1.2).

Inputs: studies with their reports, the reference definitions (rules backend). Outputs per shard:
sentences with sections and spans, free-valued observations, indication records; with each a status
per study and a ledger. Steps: extract_sentences, extract_observations, extract_indication.
"""

PASS_SETTINGS = settings(
    {"site": DATASET.site.model_dump()},
)
# Where a model runs the passes, these steps parse what it answered (passes.smk).
SENTENCES_ASKED, CONTENTS_ASKED = [
    (
        (
            f"<results>/request_{name}/{{shard}}.requests.parquet",
            f"<results>/infer_{name}/{{shard}}.receipts.parquet",
        )
        if DATASET.llm.asks_a_model
        else ([], [])
    )
    for name in ("sentences", "contents")
]
# Stanza needs torch; nothing else does.
SENTENCES_ENV = (
    "../envs/sentences.yaml"
    if DATASET.sentences.backend == "stanza"
    else "../envs/data.yaml"
)
SENTENCE_SETTINGS = settings(
    {
        "site": DATASET.site.model_dump(),
        "sentences": DATASET.sentences.model_dump(),
    },
)


rule extract_sentences:
    input:
        studies="<results>/prepare_studies/{shard}.studies.parquet",
        requests=SENTENCES_ASKED[0],
        receipts=SENTENCES_ASKED[1],
        model=DATASET.sentences.files(),
    output:
        sentences="<results>/extract_sentences/{shard}.sentences.parquet",
        status="<results>/extract_sentences/{shard}.status.parquet",
        ledger="<results>/extract_sentences/{shard}.ledger.parquet",
    log:
        "<logs>/extract_sentences/{shard}.log",
    benchmark:
        "<benchmarks>/extract_sentences/{shard}.tsv"
    conda:
        SENTENCES_ENV
    resources:
        mem_mb=4000 if DATASET.sentences.backend == "stanza" else 1000,
        runtime=120 if DATASET.sentences.backend == "stanza" else 20,
    params:
        code=code("extract_sentences"),
        reference=reference_hash(),
        settings=SENTENCE_SETTINGS,
    message:
        "extract_sentences: shard {wildcards.shard}"
    shell:
        "step extract_sentences --studies {input.studies}"
        " --reference resources/reference --sentences {output.sentences}"
        " --status {output.status} --ledger {output.ledger} --settings {params.settings:q}"
        " --shard {wildcards.shard} --log {log} --requests {input.requests}"
        " --receipts {input.receipts} # code {params.code}"


rule extract_observations:
    input:
        studies="<results>/prepare_studies/{shard}.studies.parquet",
        sentences="<results>/extract_sentences/{shard}.sentences.parquet",
        requests=CONTENTS_ASKED[0],
        receipts=CONTENTS_ASKED[1],
    output:
        observations="<results>/extract_observations/{shard}.observations.parquet",
        status="<results>/extract_observations/{shard}.status.parquet",
        ledger="<results>/extract_observations/{shard}.ledger.parquet",
    log:
        "<logs>/extract_observations/{shard}.log",
    benchmark:
        "<benchmarks>/extract_observations/{shard}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("extract_observations"),
        reference=reference_hash(),
        settings=PASS_SETTINGS,
    message:
        "extract_observations: shard {wildcards.shard}"
    shell:
        "step extract_observations --studies {input.studies}"
        " --sentences {input.sentences} --reference resources/reference"
        " --observations {output.observations} --status {output.status}"
        " --ledger {output.ledger} --settings {params.settings:q} --shard {wildcards.shard}"
        " --log {log} --requests {input.requests}"
        " --receipts {input.receipts} # code {params.code}"


rule extract_indication:
    input:
        studies="<results>/prepare_studies/{shard}.studies.parquet",
        sentences="<results>/extract_sentences/{shard}.sentences.parquet",
        requests=CONTENTS_ASKED[0],
        receipts=CONTENTS_ASKED[1],
    output:
        indications="<results>/extract_indication/{shard}.indications.parquet",
        status="<results>/extract_indication/{shard}.status.parquet",
        ledger="<results>/extract_indication/{shard}.ledger.parquet",
    log:
        "<logs>/extract_indication/{shard}.log",
    benchmark:
        "<benchmarks>/extract_indication/{shard}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("extract_indication"),
        reference=reference_hash(),
        settings=PASS_SETTINGS,
    message:
        "extract_indication: shard {wildcards.shard}"
    shell:
        "step extract_indication --studies {input.studies}"
        " --sentences {input.sentences} --reference resources/reference"
        " --indications {output.indications} --status {output.status}"
        " --ledger {output.ledger} --settings {params.settings:q} --shard {wildcards.shard}"
        " --log {log} --requests {input.requests}"
        " --receipts {input.receipts} # code {params.code}"
