"""What every script of ``workflow/scripts`` shares: arguments, log, progress, error lines.

A script declares its inputs and outputs as options; settings arrive as one JSON object that the
step's own pydantic model validates. Progress goes to the terminal and to the log file; neither
ever holds report text.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from cxrqba.errors import UserError

T = TypeVar("T")
log = logging.getLogger("cxrqba")

_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')

PROGRESS_SECONDS = 5.0
"""A long loop reports this often at most."""


def arguments(
    description: str | None,
    *,
    files: Sequence[str] = (),
    lists: Sequence[str] = (),
    argv: Sequence[str] | None = None,
) -> argparse.Namespace:
    """Parse a step's command line and set up its log.

    ``files`` become required ``--name FILE`` options (underscores turn into dashes), ``lists``
    options that take any number of files. Every step also has ``--settings JSON`` (parsed into a
    dict), ``--shard NAME`` and ``--log FILE``.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in files:
        parser.add_argument(f"--{name.replace('_', '-')}", required=True, type=Path)
    for name in lists:
        parser.add_argument(f"--{name.replace('_', '-')}", nargs="*", default=[], type=Path)
    parser.add_argument("--settings", type=json.loads, default={}, help="settings as JSON")
    parser.add_argument("--shard", default="all", help="name of the shard, for messages")
    parser.add_argument("--log", type=Path, default=None, help="log file")
    args = parser.parse_args(argv)
    _configure_logging(args.log)
    return args


def _configure_logging(path: Path | None) -> None:
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        handlers.append(logging.FileHandler(path, mode="w", encoding="utf-8"))
    logging.basicConfig(level=logging.INFO, format="%(message)s", handlers=handlers, force=True)


def run(main: Callable[[], Any]) -> None:
    """Run a script's ``main``; a :class:`UserError` becomes one line and exit status 1.

    Any other exception is a fault of ours: its kind and place are logged, not its message, which
    might quote a report.
    """
    try:
        main()
    except UserError as error:
        log.error("error: %s", error)
        sys.exit(1)
    except OSError as error:
        place = error.filename or "a file"
        log.error("error: %s: %s; free space or choose another place", place, error.strerror)
        sys.exit(1)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        places = [f"{Path(f.filename).name}:{f.lineno} in {f.name}" for f in frames[-8:]]
        log.error(
            "error: unexpected %s, a fault of this program; please report it with these places: %s",
            type(error).__name__,
            " < ".join(reversed(places)),
        )
        sys.exit(1)


def progress(items: Iterable[T], total: int, what: str) -> Iterator[T]:
    """Yield ``items``, reporting ``what: done/total`` every few seconds while it is slow."""
    start = last = time.monotonic()
    for number, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - last >= PROGRESS_SECONDS:
            last = now
            rest = (now - start) / number * (total - number)
            log.info("%s: %d/%d, about %.0f s left", what, number, total, rest)


def settings(raw: dict[str, Any]) -> str:
    """Settings as the canonical JSON that rules pass on the command line.

    Braces inside strings are escaped: Snakemake would read ``{image_id}`` as a wildcard.
    """
    text = json.dumps(raw, sort_keys=True, separators=(",", ":"))
    return _JSON_STRING.sub(lambda m: m[0].replace("{", "\\u007b").replace("}", "\\u007d"), text)
