"""Localisation of anatomy (paper Sec. E.1.1).

Inputs: the image manifest and the region definitions. Outputs per shard: boxes of every region in
original pixels, masks as run lengths, the status of every image, the ledger. Step: segment_anatomy.

Beside the outputs lies a journal of the images done so far, which no rule declares: Snakemake would
delete it before it tries a killed shard again.
"""


rule segment_anatomy:
    input:
        images="<results>/prepare_studies/{shard}.images.parquet",
        regions=f"{REFERENCE}/regions.csv",
        labels=f"{REFERENCE}/cxas_labels.json",
        weights=DATASET.segmentation.files(),
        phantoms=phantom_truth(),
    output:
        boxes="<results>/segment_anatomy/{shard}.boxes.parquet",
        masks="<results>/segment_anatomy/{shard}.masks.parquet",
        status="<results>/segment_anatomy/{shard}.status.parquet",
        ledger="<results>/segment_anatomy/{shard}.ledger.parquet",
    log:
        "<logs>/segment_anatomy/{shard}.log",
    benchmark:
        "<benchmarks>/segment_anatomy/{shard}.tsv"
    conda:
        "../envs/images.yaml"
    resources:
        gpu=DATASET.segmentation.gpus,
        # films of 3000 x 2500 pixels as float32 and some copies; a batch of 8 and the network
        mem_mb=8000 if DATASET.segmentation.backend == "cxas" else 2000,
        # 3,800 images a shard of MIMIC at about 1 s, and a margin of three; the paper's network
        # took 6 s an image: a job that runs out of time goes on where it stopped when tried again
        runtime=240,
    params:
        code=code("segment_anatomy"),
        settings=settings(DATASET.segmentation.model_dump(exclude={"python"})),
    message:
        "segment_anatomy: shard {wildcards.shard}"
    shell:
        "step segment_anatomy --images {input.images}"
        " --reference resources/reference --boxes {output.boxes} --masks {output.masks}"
        " --status {output.status} --ledger {output.ledger}"
        " --settings {params.settings:q} --shard {wildcards.shard}"
        " --log {log} # code {params.code}"
