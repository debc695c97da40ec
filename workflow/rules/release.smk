"""Giving a dataset away; not part of a full run: `snakemake release`.

Inputs: graphs, questions, judgements, ratings, statistics, and the verdict of the gate, which must
have passed. Outputs: zips of JSON, metadata, exports, statistics, cards and checksums below
<results>/release. Steps: release_shard, release.
"""

RELEASED = {
    "studies": "prepare_studies",
    "images": "prepare_studies",
    "graphs": "build_graphs",
    "observations": "build_graphs",
    "regions": "build_graphs",
    "questions": "generate_qa",
    "answers": "generate_qa",
    "judgements": "judge_qa",
    "rated": "rate_qa",
    "rated_answers": "rate_qa",
}
RELEASE_KINDS = ["scene_data", "qa"]
RELEASE_KINDS += [
    f"{grade}_frontal.{kind}" for grade in "AB" for kind in ("scene_graph", "qa")
]
RELEASE_TABLES = ["study", "image", "question", "question_image", "answer"]
RELEASE_TABLES += ["answer_image"]


rule release_shard:
    input:
        **{
            table: f"<results>/{by}/{{shard}}.{table}.parquet"
            for table, by in RELEASED.items()
        },
        image_status="<results>/segment_anatomy/{shard}.status.parquet",
    output:
        zips=expand("<results>/release_shard/{{shard}}.{kind}.zip", kind=RELEASE_KINDS),
        tables=expand(
            "<results>/release_shard/{{shard}}.{table}.parquet", table=RELEASE_TABLES
        ),
        rows="<results>/release_shard/{shard}.rows.parquet",
    log:
        "<logs>/release_shard/{shard}.log",
    benchmark:
        "<benchmarks>/release_shard/{shard}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=16000,
        runtime=240,
    params:
        code=code("release_shard"),
        settings=settings(DATASET.release.model_dump()),
        files=lambda wildcards, input: " ".join(
            f"--{table.replace('_', '-')} {input[table]}" for table in RELEASED
        ),
    message:
        "release_shard: shard {wildcards.shard}"
    shell:
        "step release_shard --image-status {input.image_status} {params.files}"
        " --rows {output.rows} --settings {params.settings:q} --shard {wildcards.shard}"
        " --log {log} # code {params.code}"


rule release:
    input:
        gate="<results>/evaluate_leaks/gate.json",
        statistics="<results>/graph_statistics/statistics.parquet",
        rows=shards_of("release_shard", "rows"),
    output:
        sums="<results>/release/SHA256SUMS.txt",
    log:
        "<logs>/release.log",
    benchmark:
        "<benchmarks>/release.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=64000,
        runtime=720,
    params:
        code=code("release"),
        settings=settings({"dataset": DATASET.model_dump()}),
    message:
        "release: metadata, exports, statistics, cards and checksums"
    shell:
        "step release --gate {input.gate} --statistics {input.statistics}"
        " --rows {input.rows} --sums {output.sums} --settings {params.settings:q}"
        " --log {log} # code {params.code}"
