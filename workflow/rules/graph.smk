"""Entity mapping and scene graphs (paper Sec. E.1.3).

Inputs: what the passes extracted, region boxes, the reference definitions. Outputs: unique free
values per shard, one table of mapping decisions per dataset, scene graphs per shard, counts over
all graphs. Steps: collect_mentions, map_entities, build_graphs, graph_statistics; sweep_mapping.
"""

# Text embeddings need torch; nothing else does.
MAPPING_ENV = (
    "../envs/embedding.yaml"
    if DATASET.embedding.backend == "sentence_transformers"
    else "../envs/data.yaml"
)


rule collect_mentions:
    input:
        observations="<results>/extract_observations/{shard}.observations.parquet",
        indications="<results>/extract_indication/{shard}.indications.parquet",
    output:
        mentions="<results>/collect_mentions/{shard}.mentions.parquet",
    log:
        "<logs>/collect_mentions/{shard}.log",
    benchmark:
        "<benchmarks>/collect_mentions/{shard}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code("collect_mentions"),
    message:
        "collect_mentions: shard {wildcards.shard}"
    shell:
        "step collect_mentions --observations {input.observations}"
        " --indications {input.indications} --mentions {output.mentions}"
        " --shard {wildcards.shard} --log {log} # code {params.code}"


rule map_entities:
    input:
        mentions=shards_of("collect_mentions", "mentions"),
        model=DATASET.embedding.files(),
    output:
        mappings="<results>/map_entities/mappings.parquet",
        backend="<results>/map_entities/backend.json",
    log:
        "<logs>/map_entities.log",
    benchmark:
        "<benchmarks>/map_entities.tsv"
    conda:
        MAPPING_ENV
    resources:
        mem_mb=4000,  # scores of 1,024 strings against 5,000 candidates at once, and the model
        runtime=720,  # 200,000 strings: minutes with n-grams, hours with embeddings on a CPU
        gpu=DATASET.embedding.gpus,
    params:
        code=code("map_entities"),
        reference=reference_hash(),
        settings=settings({"embedding": DATASET.embedding.model_dump()}),
    message:
        "map_entities: all shards"
    shell:
        "step map_entities --mentions {input.mentions}"
        " --reference resources/reference --mappings {output.mappings}"
        " --backend {output.backend}"
        " --settings {params.settings:q} --log {log} # code {params.code}"


# Not part of a full run: `snakemake sweep_mapping` scores the configured backend on gold phrases.
rule sweep_mapping:
    input:
        gold="resources/mapping_gold/mapping.csv",
        model=DATASET.embedding.files(),
    output:
        scores="<results>/sweep_mapping/scores.csv",
        table="<results>/sweep_mapping/table.md",
    log:
        "<logs>/sweep_mapping.log",
    benchmark:
        "<benchmarks>/sweep_mapping.tsv"
    conda:
        MAPPING_ENV
    resources:
        mem_mb=4000,
        runtime=60,
        gpu=DATASET.embedding.gpus,
    params:
        code=code("sweep_mapping"),
        reference=reference_hash(),
        settings=settings({"embedding": DATASET.embedding.model_dump()}),
    message:
        "sweep_mapping: gold phrases"
    shell:
        "step sweep_mapping --gold {input.gold} --reference resources/reference"
        " --scores {output.scores} --table {output.table}"
        " --settings {params.settings:q} --log {log} # code {params.code}"


rule build_graphs:
    input:
        studies="<results>/prepare_studies/{shard}.studies.parquet",
        images="<results>/prepare_studies/{shard}.images.parquet",
        boxes="<results>/segment_anatomy/{shard}.boxes.parquet",
        image_status="<results>/segment_anatomy/{shard}.status.parquet",
        sentences="<results>/extract_sentences/{shard}.sentences.parquet",
        observations="<results>/extract_observations/{shard}.observations.parquet",
        indications="<results>/extract_indication/{shard}.indications.parquet",
        mentions="<results>/collect_mentions/{shard}.mentions.parquet",
        mappings="<results>/map_entities/mappings.parquet",
        statuses=[
            "<results>/extract_sentences/{shard}.status.parquet",
            "<results>/extract_observations/{shard}.status.parquet",
            "<results>/extract_indication/{shard}.status.parquet",
        ],
        ledgers=[
            "<results>/extract_sentences/{shard}.ledger.parquet",
            "<results>/extract_observations/{shard}.ledger.parquet",
            "<results>/extract_indication/{shard}.ledger.parquet",
        ],
    output:
        graphs="<results>/build_graphs/{shard}.graphs.parquet",
        observations="<results>/build_graphs/{shard}.observations.parquet",
        regions="<results>/build_graphs/{shard}.regions.parquet",
        ledger="<results>/build_graphs/{shard}.ledger.parquet",
    log:
        "<logs>/build_graphs/{shard}.log",
    benchmark:
        "<benchmarks>/build_graphs/{shard}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        code=code("build_graphs"),
        reference=reference_hash(),
    message:
        "build_graphs: shard {wildcards.shard}"
    shell:
        "step build_graphs --studies {input.studies} --images {input.images}"
        " --boxes {input.boxes} --image-status {input.image_status}"
        " --sentences {input.sentences} --observations {input.observations}"
        " --indications {input.indications} --mentions {input.mentions}"
        " --mappings {input.mappings} --statuses {input.statuses} --ledgers {input.ledgers}"
        " --reference resources/reference"
        " --graphs {output.graphs} --graph-observations {output.observations}"
        " --graph-regions {output.regions} --ledger {output.ledger}"
        " --shard {wildcards.shard} --log {log} # code {params.code}"


rule graph_statistics:
    input:
        studies=shards_of("prepare_studies", "studies"),
        observations=shards_of("build_graphs", "observations"),
    output:
        statistics="<results>/graph_statistics/statistics.parquet",
    log:
        "<logs>/graph_statistics.log",
    benchmark:
        "<benchmarks>/graph_statistics.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        code=code("graph_statistics"),
        settings=settings({"split": DATASET.qa.statistics_split}),
    message:
        "graph_statistics: all shards"
    shell:
        "step graph_statistics --studies {input.studies} --observations {input.observations}"
        " --statistics {output.statistics} --settings {params.settings:q} --log {log}"
        " # code {params.code}"
