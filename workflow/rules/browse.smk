"""What a reader opens first.

Inputs: tables and figures that were made, studies with all that is known of them. Output: one page
without network that holds report text, so it never enters the Snakemake report. Step: index.
"""

# Tables and figures of a full run, as the page takes them.
TABLES = [t for t in targets() if t.endswith(".md")]
FIGURES = [t.removesuffix("pdf") + "png" for t in targets() if t.endswith(".pdf")]
STUDY_TABLES = {
    "studies": "prepare_studies",
    "images": "prepare_studies",
    "boxes": "segment_anatomy",
}
if DATASET.has_reports:
    STUDY_TABLES |= {
        "sentences": "extract_sentences",
        "graphs": "build_graphs",
        "observations": "build_graphs",
        "regions": "build_graphs",
        "questions": "generate_qa",
        "answers": "generate_qa",
        "rated": "rate_qa",
        "rated_answers": "rate_qa",
    }


rule index:
    input:
        **{table: shards_of(by, table) for table, by in STUDY_TABLES.items()},
        tables=TABLES,
        figures=FIGURES,
        captions=sorted(str(p) for p in Path("workflow/report").glob("*.rst")),
    output:
        html="<results>/index.html",
    log:
        "<logs>/index.log",
    benchmark:
        "<benchmarks>/index.tsv"
    conda:
        "../envs/images.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        code=code("index"),
        settings=settings(
            {"title": DATASET.title, "browse": DATASET.browse.model_dump()}
        ),
        files=lambda wildcards, input: " ".join(
            f"--{table.replace('_', '-')} {' '.join(input[table])}"
            for table in STUDY_TABLES
        ),
    message:
        "index: a page to look through"
    shell:
        "step index --tables {input.tables} --figures {input.figures} {params.files}"
        " --captions {input.captions} --html {output.html} --settings {params.settings:q}"
        " --log {log} # code {params.code}"
