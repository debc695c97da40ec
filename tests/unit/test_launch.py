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


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Commands that would have been started in a project folder whose configuration is broken."""
    (tmp_path / "Snakefile").touch()
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text("dataset: [", encoding="utf-8")
    commands: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command[3:])
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(subprocess, "run", run)
    return commands


def test_a_lock_left_by_a_kill_is_removed_whatever_the_configuration(
    tmp_path: Path, started: list[list[str]]
) -> None:
    record(tmp_path)
    lock(tmp_path)
    assert launch.run(["labels"], tmp_path) == 1
    assert not launch._locked(tmp_path)
    assert started == [["--cores", "all", "labels"]]


def test_a_plan_leaves_locks_alone(tmp_path: Path, started: list[list[str]]) -> None:
    record(tmp_path, host="elsewhere")
    lock(tmp_path)
    assert launch.run(["-n"], tmp_path) == 1
    assert launch._locked(tmp_path)
    assert started == [["--cores", "all", "-n"]]


def test_labels_end_with_their_own_summary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "results" / "own"
    for place in ("summary.txt", "labels/summary.txt"):
        (made / place).parent.mkdir(parents=True, exist_ok=True)
        (made / place).write_text(f"this is {place}", encoding="utf-8")
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text("dataset: own.yaml", encoding="utf-8")
    own = tmp_path / "own.yaml"
    own.write_text("name: own\ntitle: T\nsource: {kind: text, reports: x}\n", encoding="utf-8")
    launch._report(["labels", "--config", f"dataset={own}"], tmp_path, 1.0)
    told = capsys.readouterr().out
    assert "this is labels/summary.txt" in told
    assert "this is summary.txt" not in told
    launch._report(["--config", f"dataset={own}"], tmp_path, 1.0)
    assert "this is summary.txt" in capsys.readouterr().out


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
