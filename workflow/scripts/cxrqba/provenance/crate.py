"""The run as a Workflow Run RO-Crate: ``ro-crate-metadata.json`` in the provenance folder.

Profiles Workflow Run Crate 0.5, Process Run Crate 0.5 and Workflow RO-Crate 1.0, on RO-Crate 1.1.
Files of the crate are run.json, SHA256SUMS and the workflow; inputs and results stand outside of
the folder and are named by their checksums.
"""

from __future__ import annotations

import json
from typing import Any

METADATA = "ro-crate-metadata.json"
WORKFLOW = "Snakefile"
RECORD = "run.json"
CHECKSUMS = "SHA256SUMS"

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
ROOT = "https://w3id.org/ro/crate/1.1"
LICENCE = "https://spdx.org/licenses/MIT"

Entity = dict[str, Any]


def crate(record: dict[str, Any], results: dict[str, str]) -> str:
    """The metadata file; ``results`` maps tables, figures and pages to their checksums."""
    graph = [
        _descriptor(),
        _root(record),
        *_files(record),
        *(_profile(at, *known) for at, known in PROFILES.items()),
        *_software(record),
        *_run(record, results),
        {"@id": LICENCE, "@type": "CreativeWork", "name": "MIT License", "url": LICENCE},
    ]
    value = {"@context": f"{ROOT}/context", "@graph": graph}
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _descriptor() -> Entity:
    return {
        "@id": METADATA,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": [
            {"@id": ROOT},
            {"@id": "https://w3id.org/workflowhub/workflow-ro-crate/1.0"},
        ],
    }


def _root(record: dict[str, Any]) -> Entity:
    title = record["dataset"]["title"]
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Run of cxr-qba on: {title}",
        "description": "How scene graphs, question-answer pairs, ratings, tables and figures of "
        f"'{title}' were made: configuration, code, models, inputs and checksums of all results.",
        "datePublished": record["project"]["committed"] or "1970-01-01",
        "license": {"@id": LICENCE},
        "conformsTo": [{"@id": at} for at in PROFILES],
        "hasPart": [{"@id": name} for name in (WORKFLOW, RECORD, CHECKSUMS)],
        "mainEntity": {"@id": WORKFLOW},
        "mentions": [{"@id": "#run"}],
    }


def _files(record: dict[str, Any]) -> list[Entity]:
    commit = record["project"]["commit"] or "unknown"
    return [
        {
            "@id": WORKFLOW,
            "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
            "name": "cxr-qba",
            "description": "Chest X-ray reports and images to scene graphs and rated "
            "question-answer pairs",
            "version": f"{record['project']['version']}, commit {commit}",
            "programmingLanguage": {"@id": "#snakemake"},
            "license": {"@id": LICENCE},
            "encodingFormat": "text/plain",
        },
        {
            "@id": RECORD,
            "@type": "File",
            "name": "record of the run",
            "description": "Commit, configuration, code hashes, models, prompts, packages, inputs",
            "encodingFormat": "application/json",
        },
        {
            "@id": CHECKSUMS,
            "@type": "File",
            "name": "checksums of all results",
            "description": "SHA-256 of every file of the run, relative to the results folder",
            "encodingFormat": "text/plain",
        },
    ]


def _profile(at: str, name: str, version: str) -> Entity:
    return {"@id": at, "@type": "CreativeWork", "name": name, "version": version}


def _software(record: dict[str, Any]) -> list[Entity]:
    version = record["environment"]["packages"].get("snakemake", "unknown")
    return [
        {
            "@id": "#snakemake",
            "@type": ["ComputerLanguage", "SoftwareApplication"],
            "name": "Snakemake",
            "identifier": {"@id": "https://snakemake.readthedocs.io"},
            "url": {"@id": "https://snakemake.readthedocs.io"},
            "version": version,
            "softwareVersion": version,
        },
        {"@id": "#user", "@type": "Person", "name": "whoever ran the workflow"},
    ]


def _run(record: dict[str, Any], results: dict[str, str]) -> list[Entity]:
    """The action with what it read and made."""
    read = [_outside(n, v["sha256"], "input") for n, v in record["inputs"].items()]
    made = [_outside(n, v, "result") for n, v in results.items()]
    unique = {e["@id"]: e for e in [*read, *made]}
    action = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"Run on {record['dataset']['title']}",
        "description": f"cxrqba run --config dataset={record['dataset']['name']}",
        "instrument": {"@id": WORKFLOW},
        "agent": {"@id": "#user"},
        "actionStatus": "http://schema.org/CompletedActionStatus",
        "object": [{"@id": RECORD}, *({"@id": e["@id"]} for e in read)],
        "result": [{"@id": CHECKSUMS}, *({"@id": e["@id"]} for e in made)],
    }
    return [action, *unique.values()]


def _outside(name: str, checksum: str, kind: str) -> Entity:
    return {
        "@id": f"#sha256-{checksum}",
        "@type": "CreativeWork",
        "name": name,
        "description": f"{kind} of the run, known by its checksum",
        "identifier": f"urn:sha256:{checksum}",
    }
