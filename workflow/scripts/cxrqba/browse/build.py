"""The index of a dataset, and the page of one study."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cxrqba.browse.choose import choose, strata
from cxrqba.browse.gather import StudyRows, files_of_study, read_studies
from cxrqba.browse.items import figure_item, in_paper_order, table_item
from cxrqba.browse.page import MEGABYTE, Shown, as_json, fitting, page
from cxrqba.browse.study import study_data


@dataclass(frozen=True)
class Index:
    """The page, and how many studies it shows, were chosen, are there."""

    text: str
    shown: int
    chosen: int
    known: int


def index_page(
    title: str,
    files: Mapping[str, Sequence[Path]],
    items: tuple[Sequence[Path], Sequence[Path], Sequence[Path]],
    sample: tuple[int, int, float],
    progress: Callable[[Sequence[StudyRows]], Iterable[StudyRows]] = iter,
) -> Index:
    """Tables, figures and a sample of studies.

    ``items`` are Markdown tables, PNG figures and their captions; ``sample`` is
    (studies, seed, megabytes of the page). What has no room is left out from the end of the sample.
    ``progress`` may report how many were taken.
    """
    tables = [table_item(p, items[2]) for p in in_paper_order(items[0])]
    figures = [figure_item(p, items[2]) for p in in_paper_order(items[1])]
    size, seed, megabytes = sample
    table = strata(files.get("studies", ()), files.get("graphs", ()))
    chosen = choose(table, size, seed)
    frame = page(Shown(title, "", tables, figures), [])
    room = int(megabytes * MEGABYTE) - len(frame.encode()) - 400 * (size + 1)

    rows = progress(read_studies(files, chosen))
    studies = sorted(fitting(map(study_data, rows), room), key=lambda s: str(s[0]["id"]))
    about = Shown(
        title, _which(len(studies), len(chosen), table.height, megabytes), tables, figures
    )
    return Index(page(about, studies), len(studies), len(chosen), table.height)


def _which(shown: int, chosen: int, known: int, megabytes: float) -> str:
    text = f"{shown} of {known} studies"
    if chosen < known:
        text += ", drawn at random: complete and incomplete, with and without images"
    if shown < chosen:
        text += f"; {chosen - shown} more had no room in {megabytes:g} MB"
    if shown < known:
        text += ". Any other: cxrqba show STUDY"
    return text + ". This page holds report text: treat it as the source."


def study_page(results: Path, study_id: str, title: str) -> str:
    """The page of one study from the results of a dataset; unknown ids name the nearest."""
    rows = read_studies(files_of_study(results, study_id), [study_id])[0]
    data = study_data(rows, side=1024)
    about = Shown(f"{title}: {study_id}", "This page holds report text: treat it as the source.")
    return page(about, [(data, as_json(data))])


def file_name(study_id: str) -> str:
    """A file name for any study id; ids that differ give names that differ."""
    plain = re.sub(r"[^\w.-]", "_", study_id, flags=re.ASCII).lstrip(".")[:80]
    if plain == study_id:
        return f"{plain}.html"
    return f"{plain}-{hashlib.sha256(study_id.encode()).hexdigest()[:8]}.html"
