"""The audit: whether stored tags and answers follow from what they claim to rest on.

Three looks: every byte is the recorded one; sentences, spans and ids refer to what they name; and
each step, done again on its stored inputs, gives the stored rows. A list of checksums alone would
be no audit: it cannot tell a wrong table from a right one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import polars as pl

from cxrqba.checksum import sha256
from cxrqba.config import DatasetConfig
from cxrqba.errors import UserError
from cxrqba.provenance.checksums import Fault, check_sums, result_files
from cxrqba.provenance.rederive import Made, Setting, Shard, whole_statistics
from cxrqba.provenance.refer import check_references
from cxrqba.provenance.versions import one_hash, recorded
from cxrqba.schema import STUDIES
from cxrqba.tables import scan_table

SAMPLE = 20
"""Studies that are derived again unless told otherwise."""

MAX_TOLD = 3
"""Studies named of a table that differs."""


@dataclass
class Report:
    """What an audit found."""

    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what could not be looked at
    files: int = 0
    studies: int = 0
    known: int = 0
    tables: int = 0

    def text(self) -> str:
        """Lines for a terminal, ending in a newline."""
        lines = [f"fault: {fault}" for fault in sorted(set(self.faults))]
        lines += [f"note: {note}" for note in self.notes]
        verdict = f"{len(set(self.faults))} faults" if self.faults else "no fault"
        lines.append(
            f"{verdict}: {self.studies} of {self.known} studies derived again, "
            f"{self.tables} tables compared, {self.files} files checked"
        )
        return "\n".join(lines) + "\n"


def audit(
    results: Path,
    project: Path,
    dataset: DatasetConfig,
    sample: int | None = SAMPLE,
    progress: Callable[[str], None] = lambda line: None,
) -> Report:
    """Audit the run in ``results``; ``sample`` studies are derived again, all if None.

    A run that was not recorded raises :class:`UserError`.
    """
    report = Report()
    if not dataset.has_reports:
        raise UserError(f"{results}: a dataset without reports has no answers to audit")
    progress("checksums")
    report.faults += check_sums(results)
    report.files = len(result_files(results))
    record = recorded_or_fault(results, report)
    report.faults += check_inputs(record, project, report.notes)
    report.notes += changed_code(record, project)
    chosen = choose(results, sample)
    report.known = sum(len(ids) for ids in studies_of(results).values())
    setting = Setting(results, project, dataset)
    for shard, ids in chosen.items():
        progress(f"shard {shard}: {len(ids)} studies")
        report.studies += len(ids)
        report.faults += _guarded(f"shard {shard}", partial(check_references, results, shard))
        for made in _all_made(Shard(setting, shard, ids), report):
            report.tables += 1
            report.faults += differences(made)
    if sample is None and dataset.qa.statistics == "computed":
        report.tables += 1
        report.faults += _guarded("statistics", lambda: differences(whole_statistics(setting)))
    return report


def recorded_or_fault(results: Path, report: Report) -> dict[str, object]:
    """run.json; if it cannot be read the audit goes on without."""
    try:
        return recorded(results)
    except ValueError:
        report.faults.append(Fault("provenance/run.json", "is no JSON; it was changed"))
        return {}


def studies_of(results: Path) -> dict[str, list[str]]:
    """Shard -> its studies, sorted."""
    found = {}
    for path in sorted((results / "prepare_studies").glob("*.studies.parquet")):
        ids = scan_table(path, STUDIES).select("study_id").collect()["study_id"]
        found[path.name.partition(".")[0]] = sorted(ids)
    if not found:
        raise UserError(f"{results}: no studies here; run the workflow for this dataset first")
    return found


def choose(results: Path, sample: int | None) -> dict[str, list[str]]:
    """Shard -> studies to derive again: all, or a sample that is the same every time."""
    known = studies_of(results)
    if sample is None:
        return known
    pairs = [(hashlib.sha256(s.encode()).hexdigest(), shard, s) for shard in known
             for s in known[shard]]  # fmt: skip
    chosen: dict[str, list[str]] = {}
    for _, shard, study_id in sorted(pairs)[:sample]:
        chosen.setdefault(shard, []).append(study_id)
    return chosen


def check_inputs(record: dict[str, object], project: Path, notes: list[str]) -> Iterator[Fault]:
    """Source files that are not those of the run; what is not at hand is noted."""
    missing = 0
    inputs = record.get("inputs", {})
    assert isinstance(inputs, dict)
    for name, known in inputs.items():
        path = project / name
        if not path.is_file():
            missing += 1
        elif sha256(path) != known["sha256"]:
            yield Fault(name, "this input is not the one the run read")
    if missing:
        notes.append(f"{missing} of {len(inputs)} input files are not at hand")


def changed_code(record: dict[str, object], project: Path) -> list[str]:
    """Notes on code, definitions and prompts that are not those of the run."""
    notes = []
    for kind in ("code", "resources", "prompts"):
        known = record.get(kind, {})
        assert isinstance(known, dict)
        changed = [n for n, then in known.items() if one_hash(project, kind, n) != then]
        if changed:
            notes.append(
                f"{kind} changed since the run: {', '.join(changed)}; differences may stem from it"
            )
    return notes


def differences(made: Made) -> Iterator[Fault]:
    """At most one fault a table: the studies, or rows, that are not what is derived."""
    if made.stored.equals(made.derived):
        return
    if "study_id" not in made.stored.columns:
        yield Fault(made.file, "its rows are not what its inputs give")
        return
    stored, derived = _by_study(made.stored), _by_study(made.derived)
    wrong = sorted(
        s
        for s in stored.keys() | derived.keys()
        if s not in stored or s not in derived or not stored[s].equals(derived[s])
    )
    if not wrong:
        yield Fault(made.file, "its rows are in another order")
        return
    first = wrong[0]
    columns = _columns(stored.get(first), derived.get(first))
    told = ", ".join(wrong[:MAX_TOLD]) + (", ..." if len(wrong) > MAX_TOLD else "")
    yield Fault(
        made.file,
        f"{len(wrong)} studies are not what the inputs give: {told} ({columns} of {first})",
    )


def _columns(stored: pl.DataFrame | None, derived: pl.DataFrame | None) -> str:
    if stored is None or derived is None or stored.height != derived.height:
        count = (0 if stored is None else stored.height, 0 if derived is None else derived.height)
        return f"{count[0]} rows instead of {count[1]}"
    return ", ".join(c for c in stored.columns if not stored[c].equals(derived[c]))


def _by_study(table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    parts = table.partition_by("study_id", as_dict=True, maintain_order=True)
    return {str(key[0]): part for key, part in parts.items()}


def _all_made(shard: Shard, report: Report) -> Iterator[Made]:
    """Tables of every step; a step that cannot be done again is a fault, never a stop."""
    for step in shard.steps():
        try:
            yield from step()
        except UserError as error:
            report.faults.append(Fault(f"shard {shard.name}", f"{step.__name__}: {error}"))
        except ImportError as error:
            note = f"{step.__name__} needs {error.name}: not derived again"
            report.notes += [note] if note not in report.notes else []
        except Exception as error:  # a changed byte may break anything; go on to the next step
            what = f"{step.__name__} cannot be done again: {type(error).__name__}"
            report.faults.append(Fault(f"shard {shard.name}", what))
    try:
        yield from shard.source()
    except UserError as error:
        note = f"the source is not at hand ({error}): reports are checked by their checksums alone"
        report.notes += [note] if note not in report.notes else []


def _guarded(where: str, check: Callable[[], Iterator[Fault]]) -> Sequence[Fault]:
    try:
        return list(check())
    except UserError as error:
        return [Fault(where, str(error))]
    except Exception as error:  # as above
        return [Fault(where, f"cannot be checked: {type(error).__name__}")]
