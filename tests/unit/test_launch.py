"""Starting runs: a dead holder's lock is not in the way, a live holder is named."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from cxrqba import cli, launch
from cxrqba.errors import UserError


def record(folder: Path, **changes: object) -> None:
    content = {"pid": 17, "host": socket.gethostname(), "user": "ada", "started": "now", **changes}
    path = folder / launch.HOLDER
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def lock(folder: Path) -> None:
    (folder / launch.LOCKS).mkdir(parents=True, exist_ok=True)
    (folder / launch.LOCKS / "0.input.lock").touch()


def test_the_holder_is_named_while_it_runs_and_forgotten_after(tmp_path: Path) -> None:
    with (
        launch._held(tmp_path),
        pytest.raises(UserError, match=rf"another run .* process {os.getpid()} of"),
        launch._held(tmp_path),
    ):
        pass
    with launch._held(tmp_path):
        pass


def test_the_record_of_a_dead_holder_is_no_obstacle(tmp_path: Path) -> None:
    record(tmp_path)
    lock(tmp_path)
    with launch._held(tmp_path):
        pass


def test_a_holder_on_another_machine_is_respected(tmp_path: Path) -> None:
    record(tmp_path, host="elsewhere")
    lock(tmp_path)
    with pytest.raises(UserError, match="elsewhere"), launch._held(tmp_path):
        pass


def test_a_torn_record_is_ignored_unless_there_is_a_lock(tmp_path: Path) -> None:
    record(tmp_path)
    (tmp_path / launch.HOLDER).write_text('{"pid": 12', encoding="utf-8")
    with launch._held(tmp_path):
        pass
    lock(tmp_path)
    (tmp_path / launch.HOLDER).write_text('{"pid": 12', encoding="utf-8")
    with pytest.raises(UserError, match="--unlock"), launch._held(tmp_path):
        pass


def test_a_snakemake_started_by_hand_is_named(tmp_path: Path) -> None:
    lock(tmp_path)
    program = tmp_path / "snakemake"
    program.write_text("#!/bin/sh\nsleep 30\n", encoding="utf-8")
    program.chmod(0o755)
    with subprocess.Popen(["/bin/sh", str(program)], cwd=tmp_path) as process:
        try:
            with pytest.raises(UserError, match=f"process {process.pid}"), launch._held(tmp_path):
                pass
        finally:
            process.kill()


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
