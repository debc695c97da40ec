"""Evaluation against expert labels and boxes and known anatomy (paper Sec. 4.1, C).

Inputs: graphs, region boxes, the reference sets the dataset file names. Outputs: scores with
intervals. Steps: evaluate_extraction, evaluate_labels, evaluate_boxes, evaluate_regions.
"""

EVALUATION = evaluation()
# REFLACX is a folder of thousands of files: its tables of readings stand for it.
READINGS = [
    str(path)
    for reference in DATASET.evaluate.boxes
    for path in sorted(Path(reference.path).glob("main_data/metadata_phase_*.csv"))
]


rule evaluate_extraction:
    input:
        studies=shards_of("prepare_studies", "studies"),
        sentences=shards_of("extract_sentences", "sentences"),
        raw_observations=shards_of("extract_observations", "observations"),
        mappings="<results>/map_entities/mappings.parquet",
        observations=shards_of("build_graphs", "observations"),
        gold=gold("extraction"),
        peer=peer_claims(),
    output:
        scores="<results>/evaluate_extraction/scores.parquet",
        stages="<results>/evaluate_extraction/stages.parquet",
        errors="<results>/evaluate_extraction/errors.parquet",
    log:
        "<logs>/evaluate_extraction.log",
    benchmark:
        "<benchmarks>/evaluate_extraction.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        code=code("evaluate_extraction"),
        reference=reference_hash(),
        settings=EVALUATION["extraction"],
    message:
        "evaluate_extraction: observations against annotated reports"
    shell:
        "step evaluate_extraction --studies {input.studies} --sentences {input.sentences}"
        " --raw-observations {input.raw_observations} --mappings {input.mappings}"
        " --observations {input.observations} --peer {input.peer}"
        " --reference resources/reference --scores {output.scores} --stages {output.stages}"
        " --errors {output.errors} --settings {params.settings:q} --log {log}"
        " # code {params.code}"


rule evaluate_labels:
    input:
        studies=shards_of("prepare_studies", "studies"),
        sentences=shards_of("extract_sentences", "sentences"),
        observations=shards_of("build_graphs", "observations"),
        images=shards_of("prepare_studies", "images"),
        gold=gold("labels"),
    output:
        scores="<results>/evaluate_labels/scores.parquet",
        variants="<results>/evaluate_labels/variants.parquet",
        study_labels="<results>/evaluate_labels/study_labels.parquet",
        ledger="<results>/evaluate_labels/ledger.parquet",
    log:
        "<logs>/evaluate_labels.log",
    benchmark:
        "<benchmarks>/evaluate_labels.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        code=code("evaluate_labels"),
        reference=reference_hash(),
        settings=EVALUATION["labels"],
    message:
        "evaluate_labels: study labels against expert labels"
    shell:
        "step evaluate_labels --studies {input.studies} --sentences {input.sentences}"
        " --observations {input.observations} --images {input.images}"
        " --reference resources/reference --scores {output.scores} --variants {output.variants}"
        " --study-labels {output.study_labels} --ledger {output.ledger}"
        " --settings {params.settings:q} --log {log} # code {params.code}"


rule evaluate_boxes:
    input:
        observations=shards_of("build_graphs", "observations"),
        images=shards_of("prepare_studies", "images"),
        regions=shards_of("segment_anatomy", "boxes"),
        gold=gold("boxes"),
        readings=READINGS,
    output:
        scores="<results>/evaluate_boxes/scores.parquet",
        pairs="<results>/evaluate_boxes/pairs.parquet",
        ledger="<results>/evaluate_boxes/ledger.parquet",
    log:
        "<logs>/evaluate_boxes.log",
    benchmark:
        "<benchmarks>/evaluate_boxes.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        code=code("evaluate_boxes"),
        reference=reference_hash(),
        settings=EVALUATION["boxes"],
    message:
        "evaluate_boxes: finding boxes against expert boxes"
    shell:
        "step evaluate_boxes --observations {input.observations} --images {input.images}"
        " --regions {input.regions} --reference resources/reference --scores {output.scores}"
        " --pairs {output.pairs} --ledger {output.ledger} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule evaluate_regions:
    input:
        boxes=shards_of("segment_anatomy", "boxes"),
        status=shards_of("segment_anatomy", "status"),
        gold=gold("regions"),
    output:
        scores="<results>/evaluate_regions/scores.parquet",
        overlaps="<results>/evaluate_regions/overlaps.parquet",
    log:
        "<logs>/evaluate_regions.log",
    benchmark:
        "<benchmarks>/evaluate_regions.tsv"
    conda:
        "../envs/images.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        code=code("evaluate_regions"),
        settings=EVALUATION["regions"],
    message:
        "evaluate_regions: region boxes against known anatomy"
    shell:
        "step evaluate_regions --boxes {input.boxes} --status {input.status}"
        " --scores {output.scores} --overlaps {output.overlaps} --settings {params.settings:q}"
        " --log {log} # code {params.code}"
