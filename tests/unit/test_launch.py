"""Starting runs: a dead holder's lock is not in the way, a live holder is named."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from cxrqba import cli, launch
from cxrqba.errors import UserError


def record(folder: Path, **changes: object) -> None:
    content = {
        "pid": os.getpid(),
        "birth": launch._birth(os.getpid()),
        "host": socket.gethostname(),
        "user": "ada",
        "started": "2026-01-01 00:00:00",
        **changes,
    }
    path = folder / launch.HOLDER
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def lock(folder: Path) -> None:
    (folder / launch.LOCKS).mkdir(parents=True, exist_ok=True)
    (folder / launch.LOCKS / "0.input.lock").touch()


def test_a_live_process_is_named(tmp_path: Path) -> None:
    record(tmp_path)
    holder = launch.live_holder(tmp_path)
    assert holder is not None
    assert str(os.getpid()) in holder
    assert "ada" in holder


def test_a_process_number_used_again_is_not_the_holder(tmp_path: Path) -> None:
    record(tmp_path, birth="1")
    assert launch.live_holder(tmp_path) is None


def test_a_dead_holder_with_its_lock_is_no_holder(tmp_path: Path) -> None:
    record(tmp_path, pid=2**22 + 1)
    lock(tmp_path)
    assert launch.live_holder(tmp_path) is None


def test_a_holder_on_another_machine_is_respected(tmp_path: Path) -> None:
    record(tmp_path, host="elsewhere")
    lock(tmp_path)
    with pytest.raises(UserError, match="elsewhere"):
        launch.live_holder(tmp_path)


def test_a_torn_record_is_ignored(tmp_path: Path) -> None:
    record(tmp_path)
    (tmp_path / launch.HOLDER).write_text('{"pid": 12', encoding="utf-8")
    assert launch.live_holder(tmp_path) is None


def test_running_elsewhere_than_in_the_project_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Snakefile"):
        launch.run([], tmp_path)


def test_configuration_given_on_the_command_line_is_found() -> None:
    given = launch._given(["-n", "--config", "dataset=openi", "only=[1]", "--cores", "2"])
    assert given == {"dataset": "openi", "only": [1]}


def test_the_run_command_hands_every_argument_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed: list[str] = []
    monkeypatch.setattr(launch, "run", lambda arguments, folder: handed.extend(arguments) or 0)
    with pytest.raises(SystemExit) as status:
        cli.main(["run", "--config", "dataset=openi", "reports=x", "-n", "--cores", "1"])
    assert status.value.code == 0
    assert handed == ["--config", "dataset=openi", "reports=x", "-n", "--cores", "1"]
