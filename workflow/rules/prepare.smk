"""Reading the source.

Inputs: the tables and reports the dataset file names. Outputs per shard: studies with their report
text, the image manifest, the ledger. Steps: draw_phantoms (demo only), prepare_studies.
"""

if DATASET.phantoms:

    rule draw_phantoms:
        input:
            phantoms=DATASET.phantoms.images,
            lesions=DATASET.phantoms.lesions,
        output:
            images=directory("<results>/draw_phantoms/images"),
            truth="<results>/draw_phantoms/truth.parquet",
        log:
            "<logs>/draw_phantoms.log",
        benchmark:
            "<benchmarks>/draw_phantoms.tsv"
        conda:
            "../envs/images.yaml"
        resources:
            mem_mb=1000,
            runtime=10,
        params:
            code=code("draw_phantoms"),
        message:
            "draw_phantoms: the images of the demo"
        shell:
            "step draw_phantoms --phantoms {input.phantoms}"
            " --lesions {input.lesions} --images {output.images} --truth {output.truth}"
            " --log {log} # code {params.code}"


rule prepare_studies:
    input:
        source=source_files(),
    output:
        studies="<results>/prepare_studies/{shard}.studies.parquet",
        images="<results>/prepare_studies/{shard}.images.parquet",
        ledger="<results>/prepare_studies/{shard}.ledger.parquet",
    log:
        "<logs>/prepare_studies/{shard}.log",
    benchmark:
        "<benchmarks>/prepare_studies/{shard}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=2000,  # the metadata table of 377,110 images takes about 0.5 GB while it is joined
        runtime=20,
    params:
        code=code("prepare_studies"),
        odd_sources=odd_sources(),
        settings=settings(
            {"source": SOURCE, "shards": DATASET.shards.model_dump()},
        ),
    message:
        "prepare_studies: shard {wildcards.shard}"
    shell:
        "step prepare_studies --studies {output.studies}"
        " --images {output.images} --ledger {output.ledger} --settings {params.settings:q}"
        " --shard {wildcards.shard} --log {log} # code {params.code}"
