"""Figures, named by the paper's number and content.

Inputs: column scans over questions and ratings. Outputs: CSV, PDF and PNG. figure_1_examples shows
report wording, figure_regions whole images: neither enters the Snakemake report, which would ship
them.
"""


rule figure_1_examples:
    input:
        questions=shards_of("generate_qa", "questions"),
        answers=shards_of("generate_qa", "answers"),
        observations=shards_of("build_graphs", "observations"),
        regions=shards_of("build_graphs", "regions"),
        rated=shards_of("rate_qa", "rated"),
        images=shards_of("prepare_studies", "images"),
        studies=shards_of("prepare_studies", "studies"),
    output:
        csv="<results>/figures/figure_1_examples.csv",
        pdf="<results>/figures/figure_1_examples.pdf",
        png="<results>/figures/figure_1_examples.png",
    log:
        "<logs>/figure_1_examples.log",
    benchmark:
        "<benchmarks>/figure_1_examples.tsv"
    conda:
        "../envs/plot.yaml"
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        code=code("figure_1_examples"),
        settings=settings({"title": DATASET.title}),
    message:
        "figure_1_examples"
    shell:
        "step figure_1_examples --questions {input.questions} --answers {input.answers}"
        " --observations {input.observations} --regions {input.regions} --rated {input.rated}"
        " --images {input.images} --studies {input.studies}"
        " --csv {output.csv} --pdf {output.pdf} --png {output.png} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule figure_4_quality:
    input:
        rated=shards_of("rate_qa", "rated"),
        rated_answers=shards_of("rate_qa", "rated_answers"),
    output:
        csv="<results>/figures/figure_4_quality.csv",
        pdf="<results>/figures/figure_4_quality.pdf",
        png=report(
            "<results>/figures/figure_4_quality.png",
            caption="../report/figure_4_quality.rst",
            category="3 Questions and answers (Sec. 3 and 4.2)",
            labels={"item": "Figure \u20074", "what": "quality"},
        ),
    log:
        "<logs>/figure_4_quality.log",
    benchmark:
        "<benchmarks>/figure_4_quality.tsv"
    conda:
        "../envs/plot.yaml"
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        code=code("figure_4_quality"),
        settings=settings({"title": DATASET.title}),
    message:
        "figure_4_quality"
    shell:
        "step figure_4_quality --rated {input.rated} --rated-answers {input.rated_answers}"
        " --csv {output.csv} --pdf {output.pdf} --png {output.png} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule figure_5_tags:
    input:
        answers=shards_of("generate_qa", "answers"),
    output:
        csv="<results>/figures/figure_5_tags.csv",
        pdf="<results>/figures/figure_5_tags.pdf",
        png=report(
            "<results>/figures/figure_5_tags.png",
            caption="../report/figure_5_tags.rst",
            category="3 Questions and answers (Sec. 3 and 4.2)",
            labels={"item": "Figure \u20075", "what": "tags"},
        ),
    log:
        "<logs>/figure_5_tags.log",
    benchmark:
        "<benchmarks>/figure_5_tags.tsv"
    conda:
        "../envs/plot.yaml"
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        code=code("figure_5_tags"),
        settings=settings({"title": DATASET.title}),
    message:
        "figure_5_tags"
    shell:
        "step figure_5_tags --answers {input.answers}"
        " --csv {output.csv} --pdf {output.pdf} --png {output.png} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule figure_6_lengths:
    input:
        answers=shards_of("generate_qa", "answers"),
    output:
        csv="<results>/figures/figure_6_lengths.csv",
        pdf="<results>/figures/figure_6_lengths.pdf",
        png=report(
            "<results>/figures/figure_6_lengths.png",
            caption="../report/figure_6_lengths.rst",
            category="3 Questions and answers (Sec. 3 and 4.2)",
            labels={"item": "Figure \u20076", "what": "answer lengths"},
        ),
    log:
        "<logs>/figure_6_lengths.log",
    benchmark:
        "<benchmarks>/figure_6_lengths.tsv"
    conda:
        "../envs/plot.yaml"
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        code=code("figure_6_lengths"),
        settings=settings({"title": DATASET.title}),
    message:
        "figure_6_lengths"
    shell:
        "step figure_6_lengths --answers {input.answers}"
        " --csv {output.csv} --pdf {output.pdf} --png {output.png} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule figure_12_confusion:
    input:
        confusion="<results>/evaluate_agreement/confusion.parquet",
    output:
        csv="<results>/figures/figure_12_confusion.csv",
        pdf="<results>/figures/figure_12_confusion.pdf",
        png=report(
            "<results>/figures/figure_12_confusion.png",
            caption="../report/figure_12_confusion.rst",
            category="4 The judge (Sec. 3.3 and 4.2)",
            labels={"item": "Figure 12", "what": "two judges"},
        ),
    log:
        "<logs>/figure_12_confusion.log",
    benchmark:
        "<benchmarks>/figure_12_confusion.tsv"
    conda:
        "../envs/plot.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        code=code("figure_12_confusion"),
        settings=settings({"title": DATASET.title}),
    message:
        "figure_12_confusion"
    shell:
        "step figure_12_confusion --confusion {input.confusion}"
        " --csv {output.csv} --pdf {output.pdf} --png {output.png} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule figure_regions:
    input:
        overlaps="<results>/evaluate_regions/overlaps.parquet",
        status=shards_of("segment_anatomy", "status"),
    output:
        csv="<results>/figures/figure_regions.csv",
        pdf="<results>/figures/figure_regions.pdf",
        png="<results>/figures/figure_regions.png",
    log:
        "<logs>/figure_regions.log",
    benchmark:
        "<benchmarks>/figure_regions.tsv"
    conda:
        "../envs/plot.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        code=code("figure_regions"),
        settings=settings({"title": DATASET.title}),
    message:
        "figure_regions: images with the least overlap"
    shell:
        "step figure_regions --overlaps {input.overlaps} --status {input.status}"
        " --csv {output.csv} --pdf {output.pdf} --png {output.png} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule figure_box_thresholds:
    input:
        pairs="<results>/evaluate_boxes/pairs.parquet",
    output:
        csv="<results>/figures/figure_box_thresholds.csv",
        pdf="<results>/figures/figure_box_thresholds.pdf",
        png=report(
            "<results>/figures/figure_box_thresholds.png",
            caption="../report/figure_box_thresholds.rst",
            category="2 Scene graphs against experts (Sec. 4.1)",
            labels={"item": "Figure, ours", "what": "overlap by threshold"},
        ),
    log:
        "<logs>/figure_box_thresholds.log",
    benchmark:
        "<benchmarks>/figure_box_thresholds.tsv"
    conda:
        "../envs/plot.yaml"
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        code=code("figure_box_thresholds"),
        settings=settings({"title": DATASET.title}),
    message:
        "figure_box_thresholds: overlap of finding boxes by threshold"
    shell:
        "step figure_box_thresholds --pairs {input.pairs}"
        " --csv {output.csv} --pdf {output.pdf} --png {output.png} --settings {params.settings:q}"
        " --log {log} # code {params.code}"
