"""What all rules share: the validated configuration, the shards, the interpreter, code hashes.

Inputs: config/config.yaml and the dataset file it names.
"""

import sys
from pathlib import Path
from shlex import quote

from snakemake.exceptions import WorkflowError

try:
    from cxrqba.config import load_config
    from cxrqba.errors import UserError
    from cxrqba.provenance.code import code_hash, folder_hash
    from cxrqba.step import settings
except ModuleNotFoundError as error:
    raise WorkflowError(
        f"{error}; install the project into the environment that runs Snakemake: "
        "`make demo` does it in .venv, `pip install -e .` anywhere else"
    )

WORKFLOW = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parent
SCRIPTS = WORKFLOW / "scripts"
REFERENCE = "resources/reference"
TEMPLATES = "resources/templates"
# Under --sdm conda each job has its own environment; otherwise the interpreter that runs Snakemake
# is the one with the project's packages, whatever PATH says.
PYTHON = (
    "python"
    if any(m.name == "CONDA" for m in workflow.deployment_settings.deployment_method)
    else sys.executable
)

try:
    RUN, DATASET = load_config(config, WORKFLOW.parent)
    SHARDS = DATASET.shard_names()
except UserError as error:
    raise WorkflowError(str(error))

# `step NAME ...` in a rule runs workflow/scripts/NAME.py; cxas pins older libraries than ours.
# No path belongs to the command that Snakemake remembers: another one is no reason to run again.
SEGMENT_PYTHON = quote(DATASET.segmentation.python or PYTHON)
step = (
    f'step() {{ local by={quote(PYTHON)}; [ "$1" != segment_anatomy ] || by={SEGMENT_PYTHON}; '
    f'"$by" {quote(str(SCRIPTS))}/"$1".py "${{@:2}}"; }}; '
)
shell.prefix(step.replace("{", "{{").replace("}", "}}"))  # it formats its argument

RESULTS = f"{RUN.results}/{DATASET.name}"
SOURCE = DATASET.source_with_phantoms(f"{RESULTS}/draw_phantoms/images")


def code(step):
    """Hash of the script of ``step`` and of all modules it imports."""
    return code_hash(SCRIPTS / f"{step}.py")


def reference_hash():
    """Hash of the reference definitions, a parameter of the steps that may depend on them.

    As inputs, twenty files of every job made the plan of 1,000 shards a third slower.
    """
    return folder_hash(Path(REFERENCE), (".csv", ".yaml"))


def templates_hash():
    """Hash of the question templates."""
    return folder_hash(Path(TEMPLATES), (".yaml",))


def source_files(with_braces=False):
    """Files of the source whose change must rerun the reading; never a walk over a large tree.

    Snakemake would take ``{x}.txt`` for a wildcard: files of such names are no inputs.
    """
    files = [p for p in map(str, DATASET.source_files()) if Path(p).is_file()]
    return [p for p in files if bool({*"{}"} & {*p}) == with_braces]


def odd_sources():
    """Size and time of the files that cannot be inputs, so that their change reruns the reading."""
    stats = [Path(p).stat() for p in source_files(with_braces=True)]
    return " ".join(f"{s.st_size}@{s.st_mtime_ns}" for s in stats)


def phantom_truth():
    """The truth table of the phantoms where the dataset draws some: segmentation waits for it."""
    return f"{RESULTS}/draw_phantoms/truth.parquet" if DATASET.phantoms else []


def shards_of(step, table):
    """All shards of one table of a step."""
    return expand(f"{RESULTS}/{step}/{{shard}}.{table}.parquet", shard=SHARDS)


def ledgers():
    """The ledgers of all shards of the steps that keep one."""
    steps = ["prepare_studies", "segment_anatomy"]
    if DATASET.has_reports:
        steps += ["extract_sentences", "extract_observations", "extract_indication"]
        steps += ["build_graphs", "generate_qa", "judge_qa"]
    return [path for step in steps for path in shards_of(step, "ledger")]


def evaluation():
    """Settings of the evaluation steps: what to compare with, intervals, the dataset's title."""
    references = DATASET.references(RESULTS)
    common = {
        "dataset": DATASET.title,
        "bootstrap": DATASET.evaluate.bootstrap,
        "seed": DATASET.evaluate.seed,
    }
    return {
        kind: settings({**common, "references": refs})
        for kind, refs in references.items()
    }


def gold(kind):
    """Files of the reference sets of one kind, where they are files."""
    keys = ["path", "observations", "split", "names", "sections"]
    paths = [r.get(key) for r in DATASET.references(RESULTS)[kind] for key in keys]
    return [p for p in paths if p and not Path(p).is_dir()]


def peer_claims():
    """What `make peer` wrote, if it was run: the peer has an environment of its own."""
    path = f"{RESULTS}/evaluate_extraction/peer.parquet"
    return [path] if Path(path).is_file() else []


def targets():
    """What a full run makes; a dataset without reports stops after localisation."""
    tables, figures = ["table_accounting"], []
    if DATASET.evaluate.regions:
        tables, figures = [*tables, "table_regions"], ["figure_regions"]
    if DATASET.evaluate.extraction:
        tables += ["table_extraction", "table_judge"]
    if DATASET.has_reports:
        names = "2a_labels 2b_boxes 3_uniqueness 5_agreement 7_chexpert 8_cxr_lt"
        names += " 9_ms_cxr 10_reflacx 11_extraction_quality 12_text_quality leaks"
        names += " 13_study_templates 14_region_templates 15_finding_templates"
        tables += [f"table_{name}" for name in names.split()]
        figures += ["figure_1_examples", "figure_4_quality", "figure_5_tags"]
        figures += ["figure_6_lengths", "figure_12_confusion", "figure_box_thresholds"]
    made = expand("<results>/tables/{name}.md", name=tables)
    made += expand("<results>/figures/{name}.pdf", name=figures)
    return [*made, "<results>/summary.txt", "<results>/index.html"]
