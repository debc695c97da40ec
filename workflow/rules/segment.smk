"""Localisation of anatomy (paper Sec. E.1.1).

Inputs: the image manifest and the region definitions. Outputs per shard: boxes of every region in
original pixels, the status of every image, the ledger. Step: segment_anatomy.
"""


rule segment_anatomy:
    input:
        images="<results>/prepare_studies/{shard}.images.parquet",
        regions=f"{REFERENCE}/regions.csv",
        phantoms=phantom_truth(),
    output:
        boxes="<results>/segment_anatomy/{shard}.boxes.parquet",
        status="<results>/segment_anatomy/{shard}.status.parquet",
        ledger="<results>/segment_anatomy/{shard}.ledger.parquet",
    log:
        "<logs>/segment_anatomy/{shard}.log",
    benchmark:
        "<benchmarks>/segment_anatomy/{shard}.tsv"
    conda:
        "../envs/images.yaml"
    resources:
        mem_mb=2000,  # one film at a time: 3000 x 2500 pixels as float32 and some copies
        runtime=240,  # 3,800 images a shard of MIMIC at about 1 s, and a margin of three
    params:
        code=code("segment_anatomy"),
        settings=settings(DATASET.segmentation.model_dump()),
    message:
        "segment_anatomy: shard {wildcards.shard}"
    shell:
        "step segment_anatomy --images {input.images}"
        " --reference resources/reference --boxes {output.boxes} --status {output.status}"
        " --ledger {output.ledger} --settings {params.settings:q} --shard {wildcards.shard}"
        " --log {log} # code {params.code}"
