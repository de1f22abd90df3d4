"""The command: what it runs in which order, and that it judges kept runs again without running anything."""

import json
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from golden.stored import extract

from . import __main__ as command
from . import runs
from .__main__ import chosen, main, plan
from .case import Variant, experiment_of
from .cases import CASES


@pytest.fixture
def kept_run(tmp_path):
    """The folder of runs in which one case has a run, whose verdict is out of date; and the file of that verdict."""
    folder = tmp_path / "server-quota" / "pinned-1"
    extract("observed", folder)
    (file,) = folder.glob("*/trials/*/verdict.json")
    document = json.loads(file.read_text())
    document["verdict"]["limit"] = "network"
    file.write_text(json.dumps(document))
    return tmp_path, file


def test_a_control_runs_once_for_all_its_cases():
    cases = chosen(("server-quota", "client-quota"))
    names = [scenario.name for scenario, variant, _ in plan(cases, tuple(Variant), 1) if variant is Variant.PINNED]
    assert names.count("mariadb-get") == 1 and names.count("server-quota") == 1
    assert names.index("mariadb-get") < names.index("server-quota")


def test_each_case_is_pinned_as_its_variant_says():
    case = next(case for case in CASES if case.name == "server-quota")
    pinned = experiment_of(case, Variant.PINNED, case.load.system).cpus
    assert (pinned.client, pinned.server) == ([0], [1])
    unpinned = experiment_of(case, Variant.UNPINNED, case.load.system).cpus
    assert unpinned.client is unpinned.server is None


def test_kept_runs_are_judged_again(kept_run):
    folder, file = kept_run
    result = CliRunner().invoke(main, ["server-quota", "--runs", str(folder), "--judge"])
    limit = json.loads(file.read_text())["verdict"]["limit"]
    assert limit != "network" and "1 in all" in result.output, result.output
    assert set(folder.iterdir()) == {folder / "server-quota"}


def test_an_interrupt_ends_the_command_and_not_one_run_alone(monkeypatch, tmp_path):
    begun = []

    def interrupted(experiment, *_):
        begun.append(experiment.name)
        return SimpleNamespace(state="interrupted", reason="by the user")

    monkeypatch.setattr(runs, "conduct", interrupted)
    monkeypatch.setattr(runs, "need_system", lambda text: None)
    monkeypatch.setattr(command, "wait_for_quiet", lambda: None)
    result = CliRunner().invoke(main, ["rate-kept", "--runs", str(tmp_path)])
    assert result.exit_code == 1 and begun == ["mariadb-get"], result.output


def test_a_case_that_is_not_there_is_refused_with_those_that_are():
    result = CliRunner().invoke(main, ["no-such-case"])
    assert result.exit_code == 2 and "server-quota" in result.output
