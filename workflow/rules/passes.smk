"""Models that run the extraction passes (paper Sec. 3.1, E.1.2); with backend rules nothing of it.

Inputs: studies, sentences, prompts. Outputs per shard: requests, and receipts of the answers, which
lie in <results>/responses, a store that no rule owns and no rerun deletes. Steps: request_sentences,
infer_sentences, then from the sentences request_contents, infer_contents (observations and
indication, which share one start of the model).
"""

ASKING_SETTINGS = settings(DATASET.llm.asking())
INFER_SETTINGS = settings(DATASET.llm.model_dump())
PROMPTS = "resources/prompts"
PROMPT_FILES = {
    name: sorted(str(p) for p in Path(PROMPTS, name).iterdir())
    for name in ("sentences", "observations", "indication")
}
# A rate of 1,000 tokens/s on one GPU is some 4 h for the 2,300 reports of a shard of MIMIC-CXR.
INFER_RUNTIME = 480
INFER_MEM = 64000 if DATASET.llm.gpus else 2000


rule request_sentences:
    input:
        studies="<results>/prepare_studies/{shard}.studies.parquet",
        prompts=PROMPT_FILES["sentences"],
    output:
        requests="<results>/request_sentences/{shard}.requests.parquet",
    log:
        "<logs>/request_sentences/{shard}.log",
    benchmark:
        "<benchmarks>/request_sentences/{shard}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("request_sentences"),
        settings=ASKING_SETTINGS,
    message:
        "request_sentences: shard {wildcards.shard}"
    shell:
        "step request_sentences --studies {input.studies} --prompts resources/prompts"
        " --requests {output.requests} --settings {params.settings:q}"
        " --shard {wildcards.shard} --log {log} # code {params.code}"


rule infer_sentences:
    input:
        requests="<results>/request_sentences/{shard}.requests.parquet",
    output:
        receipts="<results>/infer_sentences/{shard}.receipts.parquet",
    log:
        "<logs>/infer_sentences/{shard}.log",
    benchmark:
        "<benchmarks>/infer_sentences/{shard}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=INFER_MEM,
        runtime=INFER_RUNTIME,
        gpu=DATASET.llm.gpus,
    params:
        code=code("infer_sentences"),
        settings=INFER_SETTINGS,
    message:
        "infer_sentences: shard {wildcards.shard}"
    shell:
        "step infer_sentences --requests {input.requests} --receipts {output.receipts}"
        " --settings {params.settings:q} --shard {wildcards.shard} --log {log}"
        " # code {params.code}"


rule request_contents:
    input:
        studies="<results>/prepare_studies/{shard}.studies.parquet",
        sentences="<results>/extract_sentences/{shard}.sentences.parquet",
        prompts=PROMPT_FILES["observations"] + PROMPT_FILES["indication"],
    output:
        requests="<results>/request_contents/{shard}.requests.parquet",
    log:
        "<logs>/request_contents/{shard}.log",
    benchmark:
        "<benchmarks>/request_contents/{shard}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=1000,
        runtime=20,
    params:
        code=code("request_contents"),
        settings=ASKING_SETTINGS,
    message:
        "request_contents: shard {wildcards.shard}"
    shell:
        "step request_contents --studies {input.studies} --sentences {input.sentences}"
        " --prompts resources/prompts --requests {output.requests}"
        " --settings {params.settings:q} --shard {wildcards.shard} --log {log}"
        " # code {params.code}"


rule infer_contents:
    input:
        requests="<results>/request_contents/{shard}.requests.parquet",
    output:
        receipts="<results>/infer_contents/{shard}.receipts.parquet",
    log:
        "<logs>/infer_contents/{shard}.log",
    benchmark:
        "<benchmarks>/infer_contents/{shard}.tsv"
    conda:
        "../envs/data.yaml"
    resources:
        mem_mb=INFER_MEM,
        runtime=INFER_RUNTIME,
        gpu=DATASET.llm.gpus,
    params:
        code=code("infer_contents"),
        settings=INFER_SETTINGS,
    message:
        "infer_contents: shard {wildcards.shard}"
    shell:
        "step infer_contents --requests {input.requests} --receipts {output.receipts}"
        " --settings {params.settings:q} --shard {wildcards.shard} --log {log}"
        " # code {params.code}"
