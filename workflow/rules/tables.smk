"""Tables, named by the paper's number and content.

Inputs: evaluation scores, column scans over questions, the accounting. Outputs: CSV and Markdown.
"""


rule table_2a_labels:
    input:
        scores="<results>/evaluate_labels/scores.parquet",
    output:
        csv="<results>/tables/table_2a_labels.csv",
        markdown="<results>/tables/table_2a_labels.md",
        html=report(
            "<results>/tables/table_2a_labels.html",
            caption="../report/table_2a_labels.rst",
            category="2 Scene graphs against experts (Sec. 4.1)",
            labels={"item": "Table \u20072a", "what": "label agreement"},
        ),
    log:
        "<logs>/table_2a_labels.log",
    benchmark:
        "<benchmarks>/table_2a_labels.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("table_2a_labels"),
        settings=settings({"title": DATASET.title}),
    message:
        "table_2a_labels"
    shell:
        "step table_2a_labels --scores {input.scores}"
        " --csv {output.csv} --markdown {output.markdown} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule table_2b_boxes:
    input:
        scores="<results>/evaluate_boxes/scores.parquet",
    output:
        csv="<results>/tables/table_2b_boxes.csv",
        markdown="<results>/tables/table_2b_boxes.md",
        html=report(
            "<results>/tables/table_2b_boxes.html",
            caption="../report/table_2b_boxes.rst",
            category="2 Scene graphs against experts (Sec. 4.1)",
            labels={"item": "Table \u20072b", "what": "box agreement"},
        ),
    log:
        "<logs>/table_2b_boxes.log",
    benchmark:
        "<benchmarks>/table_2b_boxes.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("table_2b_boxes"),
        settings=settings({"title": DATASET.title}),
    message:
        "table_2b_boxes"
    shell:
        "step table_2b_boxes --scores {input.scores}"
        " --csv {output.csv} --markdown {output.markdown} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule table_7_chexpert:
    input:
        scores="<results>/evaluate_labels/scores.parquet",
        variants="<results>/evaluate_labels/variants.parquet",
    output:
        csv="<results>/tables/table_7_chexpert.csv",
        markdown="<results>/tables/table_7_chexpert.md",
        html=report(
            "<results>/tables/table_7_chexpert.html",
            caption="../report/table_7_chexpert.rst",
            category="2 Scene graphs against experts (Sec. 4.1)",
            labels={"item": "Table \u20077", "what": "labels, CheXpert per class"},
        ),
    log:
        "<logs>/table_7_chexpert.log",
    benchmark:
        "<benchmarks>/table_7_chexpert.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("table_7_chexpert"),
        settings=settings({"title": DATASET.title}),
    message:
        "table_7_chexpert"
    shell:
        "step table_7_chexpert --scores {input.scores} --variants {input.variants}"
        " --csv {output.csv} --markdown {output.markdown} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule table_8_cxr_lt:
    input:
        scores="<results>/evaluate_labels/scores.parquet",
        variants="<results>/evaluate_labels/variants.parquet",
    output:
        csv="<results>/tables/table_8_cxr_lt.csv",
        markdown="<results>/tables/table_8_cxr_lt.md",
        html=report(
            "<results>/tables/table_8_cxr_lt.html",
            caption="../report/table_8_cxr_lt.rst",
            category="2 Scene graphs against experts (Sec. 4.1)",
            labels={"item": "Table \u20078", "what": "labels, CXR-LT per class"},
        ),
    log:
        "<logs>/table_8_cxr_lt.log",
    benchmark:
        "<benchmarks>/table_8_cxr_lt.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("table_8_cxr_lt"),
        settings=settings({"title": DATASET.title}),
    message:
        "table_8_cxr_lt"
    shell:
        "step table_8_cxr_lt --scores {input.scores} --variants {input.variants}"
        " --csv {output.csv} --markdown {output.markdown} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule table_9_ms_cxr:
    input:
        scores="<results>/evaluate_boxes/scores.parquet",
    output:
        csv="<results>/tables/table_9_ms_cxr.csv",
        markdown="<results>/tables/table_9_ms_cxr.md",
        html=report(
            "<results>/tables/table_9_ms_cxr.html",
            caption="../report/table_9_ms_cxr.rst",
            category="2 Scene graphs against experts (Sec. 4.1)",
            labels={"item": "Table \u20079", "what": "boxes, MS-CXR per class"},
        ),
    log:
        "<logs>/table_9_ms_cxr.log",
    benchmark:
        "<benchmarks>/table_9_ms_cxr.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("table_9_ms_cxr"),
        settings=settings({"title": DATASET.title}),
    message:
        "table_9_ms_cxr"
    shell:
        "step table_9_ms_cxr --scores {input.scores}"
        " --csv {output.csv} --markdown {output.markdown} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule table_10_reflacx:
    input:
        scores="<results>/evaluate_boxes/scores.parquet",
    output:
        csv="<results>/tables/table_10_reflacx.csv",
        markdown="<results>/tables/table_10_reflacx.md",
        html=report(
            "<results>/tables/table_10_reflacx.html",
            caption="../report/table_10_reflacx.rst",
            category="2 Scene graphs against experts (Sec. 4.1)",
            labels={"item": "Table 10", "what": "boxes, REFLACX per class"},
        ),
    log:
        "<logs>/table_10_reflacx.log",
    benchmark:
        "<benchmarks>/table_10_reflacx.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("table_10_reflacx"),
        settings=settings({"title": DATASET.title}),
    message:
        "table_10_reflacx"
    shell:
        "step table_10_reflacx --scores {input.scores}"
        " --csv {output.csv} --markdown {output.markdown} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule table_3_uniqueness:
    input:
        questions=shards_of("generate_qa", "questions"),
        answers=shards_of("generate_qa", "answers"),
    output:
        csv="<results>/tables/table_3_uniqueness.csv",
        markdown="<results>/tables/table_3_uniqueness.md",
        html=report(
            "<results>/tables/table_3_uniqueness.html",
            caption="../report/table_3_uniqueness.rst",
            category="3 Questions and answers (Sec. 3 and 4.2)",
            labels={"item": "Table \u20073", "what": "uniqueness"},
        ),
    log:
        "<logs>/table_3_uniqueness.log",
    benchmark:
        "<benchmarks>/table_3_uniqueness.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=4000,
        runtime=20,
    params:
        code=code("table_3_uniqueness"),
        settings=settings({"title": DATASET.title}),
    message:
        "table_3_uniqueness"
    shell:
        "step table_3_uniqueness --questions {input.questions} --answers {input.answers}"
        " --csv {output.csv} --markdown {output.markdown} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule table_accounting:
    input:
        accounting="<results>/account_studies/accounting.parquet",
    output:
        csv="<results>/tables/table_accounting.csv",
        markdown="<results>/tables/table_accounting.md",
        html=report(
            "<results>/tables/table_accounting.html",
            caption="../report/table_accounting.rst",
            category="1 What came in and what came out",
            labels={"item": "Table, ours", "what": "accounting"},
        ),
    log:
        "<logs>/table_accounting.log",
    benchmark:
        "<benchmarks>/table_accounting.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("table_accounting"),
        settings=settings({"title": DATASET.title}),
    message:
        "table_accounting"
    shell:
        "step table_accounting --accounting {input.accounting}"
        " --csv {output.csv} --markdown {output.markdown} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule table_extraction:
    input:
        scores="<results>/evaluate_extraction/scores.parquet",
        stages="<results>/evaluate_extraction/stages.parquet",
    output:
        csv="<results>/tables/table_extraction.csv",
        markdown="<results>/tables/table_extraction.md",
        html=report(
            "<results>/tables/table_extraction.html",
            caption="../report/table_extraction.rst",
            category="2 Scene graphs against experts (Sec. 4.1)",
            labels={
                "item": "Table, ours",
                "what": "observations against annotated reports",
            },
        ),
    log:
        "<logs>/table_extraction.log",
    benchmark:
        "<benchmarks>/table_extraction.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("table_extraction"),
        settings=settings({"title": DATASET.title}),
    message:
        "table_extraction"
    shell:
        "step table_extraction --scores {input.scores} --stages {input.stages}"
        " --csv {output.csv} --markdown {output.markdown} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule table_regions:
    input:
        scores="<results>/evaluate_regions/scores.parquet",
    output:
        csv="<results>/tables/table_regions.csv",
        markdown="<results>/tables/table_regions.md",
        html=report(
            "<results>/tables/table_regions.html",
            caption="../report/table_regions.rst",
            category="2 Scene graphs against experts (Sec. 4.1)",
            labels={"item": "Table, ours", "what": "boxes against known anatomy"},
        ),
    log:
        "<logs>/table_regions.log",
    benchmark:
        "<benchmarks>/table_regions.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("table_regions"),
        settings=settings({"title": DATASET.title}),
    message:
        "table_regions"
    shell:
        "step table_regions --scores {input.scores}"
        " --csv {output.csv} --markdown {output.markdown} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule table_judge:
    input:
        scores="<results>/evaluate_judge/scores.parquet",
    output:
        csv="<results>/tables/table_judge.csv",
        markdown="<results>/tables/table_judge.md",
        html=report(
            "<results>/tables/table_judge.html",
            caption="../report/table_judge.rst",
            category="4 The judge (Sec. 3.3 and 4.2)",
            labels={"item": "Table, ours", "what": "planted and natural errors"},
        ),
    log:
        "<logs>/table_judge.log",
    benchmark:
        "<benchmarks>/table_judge.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("table_judge"),
        settings=settings({"title": DATASET.title}),
    message:
        "table_judge"
    shell:
        "step table_judge --scores {input.scores}"
        " --csv {output.csv} --markdown {output.markdown} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule table_5_agreement:
    input:
        scores="<results>/evaluate_agreement/scores.parquet",
    output:
        csv="<results>/tables/table_5_agreement.csv",
        markdown="<results>/tables/table_5_agreement.md",
        html=report(
            "<results>/tables/table_5_agreement.html",
            caption="../report/table_5_agreement.rst",
            category="4 The judge (Sec. 3.3 and 4.2)",
            labels={
                "item": "Table \u20075",
                "what": "agreement of the judge with people",
            },
        ),
    log:
        "<logs>/table_5_agreement.log",
    benchmark:
        "<benchmarks>/table_5_agreement.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("table_5_agreement"),
        settings=settings({"title": DATASET.title}),
    message:
        "table_5_agreement"
    shell:
        "step table_5_agreement --scores {input.scores}"
        " --csv {output.csv} --markdown {output.markdown} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule table_11_extraction_quality:
    output:
        csv="<results>/tables/table_11_extraction_quality.csv",
        markdown="<results>/tables/table_11_extraction_quality.md",
        html=report(
            "<results>/tables/table_11_extraction_quality.html",
            caption="../report/table_11_extraction_quality.rst",
            category="6 Definitions (App. D and E)",
            labels={"item": "Table 11", "what": "extraction quality"},
        ),
    log:
        "<logs>/table_11_extraction_quality.log",
    benchmark:
        "<benchmarks>/table_11_extraction_quality.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("table_11_extraction_quality"),
        settings=settings({"title": DATASET.title}),
    message:
        "table_11_extraction_quality"
    shell:
        "step table_11_extraction_quality --csv {output.csv} --markdown {output.markdown}"
        " --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule table_12_text_quality:
    output:
        csv="<results>/tables/table_12_text_quality.csv",
        markdown="<results>/tables/table_12_text_quality.md",
        html=report(
            "<results>/tables/table_12_text_quality.html",
            caption="../report/table_12_text_quality.rst",
            category="6 Definitions (App. D and E)",
            labels={"item": "Table 12", "what": "text quality"},
        ),
    log:
        "<logs>/table_12_text_quality.log",
    benchmark:
        "<benchmarks>/table_12_text_quality.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("table_12_text_quality"),
        settings=settings({"title": DATASET.title}),
    message:
        "table_12_text_quality"
    shell:
        "step table_12_text_quality --csv {output.csv} --markdown {output.markdown}"
        " --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule table_13_study_templates:
    input:
        questions=shards_of("generate_qa", "questions"),
    output:
        csv="<results>/tables/table_13_study_templates.csv",
        markdown="<results>/tables/table_13_study_templates.md",
        html=report(
            "<results>/tables/table_13_study_templates.html",
            caption="../report/table_13_study_templates.rst",
            category="6 Definitions (App. D and E)",
            labels={"item": "Table 13", "what": "study templates"},
        ),
    log:
        "<logs>/table_13_study_templates.log",
    benchmark:
        "<benchmarks>/table_13_study_templates.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("table_13_study_templates"),
        templates=templates_hash(),
        settings=settings({"title": DATASET.title}),
    message:
        "table_13_study_templates"
    shell:
        "step table_13_study_templates --questions {input.questions} --templates resources/templates"
        " --csv {output.csv} --markdown {output.markdown} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule table_14_region_templates:
    input:
        questions=shards_of("generate_qa", "questions"),
    output:
        csv="<results>/tables/table_14_region_templates.csv",
        markdown="<results>/tables/table_14_region_templates.md",
        html=report(
            "<results>/tables/table_14_region_templates.html",
            caption="../report/table_14_region_templates.rst",
            category="6 Definitions (App. D and E)",
            labels={"item": "Table 14", "what": "region templates"},
        ),
    log:
        "<logs>/table_14_region_templates.log",
    benchmark:
        "<benchmarks>/table_14_region_templates.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("table_14_region_templates"),
        templates=templates_hash(),
        settings=settings({"title": DATASET.title}),
    message:
        "table_14_region_templates"
    shell:
        "step table_14_region_templates --questions {input.questions} --templates resources/templates"
        " --csv {output.csv} --markdown {output.markdown} --settings {params.settings:q}"
        " --log {log} # code {params.code}"


rule table_15_finding_templates:
    input:
        questions=shards_of("generate_qa", "questions"),
    output:
        csv="<results>/tables/table_15_finding_templates.csv",
        markdown="<results>/tables/table_15_finding_templates.md",
        html=report(
            "<results>/tables/table_15_finding_templates.html",
            caption="../report/table_15_finding_templates.rst",
            category="6 Definitions (App. D and E)",
            labels={"item": "Table 15", "what": "finding templates"},
        ),
    log:
        "<logs>/table_15_finding_templates.log",
    benchmark:
        "<benchmarks>/table_15_finding_templates.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("table_15_finding_templates"),
        templates=templates_hash(),
        settings=settings({"title": DATASET.title}),
    message:
        "table_15_finding_templates"
    shell:
        "step table_15_finding_templates --questions {input.questions} --templates resources/templates"
        " --csv {output.csv} --markdown {output.markdown} --settings {params.settings:q}"
        " --log {log} # code {params.code}"
