"""For one's own hospital: study labels from reports alone, and what was not understood.

Inputs: what the passes extracted, the mapping decisions, the reference definitions; neither images
nor boxes nor questions. Outputs: one table of labels, CheXpert's wide one among them, and the
worklist. Run `snakemake labels` or `snakemake worklist`; neither is part of a full run.
Steps: label_studies, labels, worklist.
"""

PASSES = ["extract_sentences", "extract_observations", "extract_indication"]


rule label_studies:
    input:
        studies="<results>/prepare_studies/{shard}.studies.parquet",
        sentences="<results>/extract_sentences/{shard}.sentences.parquet",
        observations="<results>/extract_observations/{shard}.observations.parquet",
        indications="<results>/extract_indication/{shard}.indications.parquet",
        mentions="<results>/collect_mentions/{shard}.mentions.parquet",
        mappings="<results>/map_entities/mappings.parquet",
        statuses=expand("<results>/{step}/{{shard}}.status.parquet", step=PASSES),
        ledgers=expand("<results>/{step}/{{shard}}.ledger.parquet", step=PASSES),
    output:
        labels="<results>/label_studies/{shard}.labels.parquet",
        ledger="<results>/label_studies/{shard}.ledger.parquet",
    log:
        "<logs>/label_studies/{shard}.log",
    benchmark:
        "<benchmarks>/label_studies/{shard}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        code=code("label_studies"),
        reference=reference_hash(),
        settings=settings(DATASET.labels.model_dump(exclude={"text"})),
    message:
        "label_studies: shard {wildcards.shard}"
    shell:
        "step label_studies --studies {input.studies} --sentences {input.sentences}"
        " --observations {input.observations} --indications {input.indications}"
        " --mentions {input.mentions} --mappings {input.mappings}"
        " --statuses {input.statuses} --ledgers {input.ledgers}"
        " --reference resources/reference --labels {output.labels} --ledger {output.ledger}"
        " --settings {params.settings:q} --shard {wildcards.shard} --log {log}"
        " # code {params.code}"


rule labels:
    input:
        labels=shards_of("label_studies", "labels"),
        studies=shards_of("prepare_studies", "studies"),
        ledgers=[
            path
            for step in ["prepare_studies", *PASSES, "label_studies"]
            for path in shards_of(step, "ledger")
        ],
    output:
        table="<results>/labels/labels.parquet",
        wide="<results>/labels/labels.csv",
        evidence="<results>/labels/evidence.csv",
        left_out="<results>/labels/left_out.csv",
        summary="<results>/labels/summary.txt",
    log:
        "<logs>/labels.log",
    benchmark:
        "<benchmarks>/labels.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=8000,  # 227,835 studies x 14 classes with their evidence
        runtime=30,
    params:
        code=code("labels"),
        settings=settings({"title": DATASET.title, **DATASET.labels.model_dump()}),
    message:
        "labels: all shards"
    shell:
        "step labels --labels {input.labels} --studies {input.studies}"
        " --ledgers {input.ledgers} --table {output.table} --wide {output.wide}"
        " --evidence {output.evidence} --left-out {output.left_out} --summary {output.summary}"
        " --settings {params.settings:q} --log {log} # code {params.code}"


rule worklist:
    input:
        studies=shards_of("prepare_studies", "studies"),
        sentences=shards_of("extract_sentences", "sentences"),
        observations=shards_of("extract_observations", "observations"),
        sentence_ledgers=shards_of("extract_sentences", "ledger"),
        observation_ledgers=shards_of("extract_observations", "ledger"),
        mappings="<results>/map_entities/mappings.parquet",
    output:
        table="<results>/worklist/worklist.csv",
        page="<results>/worklist/worklist.html",
        summary="<results>/worklist/summary.txt",
    log:
        "<logs>/worklist.log",
    benchmark:
        "<benchmarks>/worklist.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        code=code("worklist"),
        reference=reference_hash(),
        settings=settings(
            {
                "title": DATASET.title,
                "site": DATASET.site.model_dump(),
                "embedding": DATASET.embedding.model_dump(),
                **DATASET.worklist.model_dump(),
            }
        ),
    message:
        "worklist: what was not understood"
    shell:
        "step worklist --studies {input.studies} --sentences {input.sentences}"
        " --observations {input.observations} --sentence-ledgers {input.sentence_ledgers}"
        " --observation-ledgers {input.observation_ledgers} --mappings {input.mappings}"
        " --reference resources/reference --table {output.table} --page {output.page}"
        " --summary {output.summary} --settings {params.settings:q} --log {log} # code {params.code}"
