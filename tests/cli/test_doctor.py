"""The doctor looks at the load client, the servers and the host."""

import pytest

from dbdyno.cli import doctor as cli_doctor
from dbdyno.observe import doctor
from dbdyno.observe.doctor import Finding
from dbdyno.systems import SYSTEMS


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    monkeypatch.setattr(doctor, "WATCH_S", 0.05)


@pytest.fixture
def findings(monkeypatch):
    """Have only these findings of the host."""

    def have(*findings):
        monkeypatch.setattr(cli_doctor, "examine", lambda *_: list(findings))

    have()
    return have


def test_what_spoils_comes_first_and_what_is_fine_is_a_line(dbdyno, fake_load, findings):
    busy = Finding(False, "other processes busy: cc1 (7) 90%", "end them", "other processes")
    turbo = Finding(False, "turbo: on", "turn it off", "turbo", spoils=False)
    findings(turbo, busy, Finding(True, "swap in use: 0 MiB", "", "swap"))
    status, out, err = dbdyno("doctor")
    assert (status, err) == (0, "")
    there = sum(system.missing() is None for system in SYSTEMS.values())
    assert out == (
        "Spoils a measurement\n  other processes busy: cc1 (7) 90%\n    end them\n"
        "\nGood to know\n  turbo: on\n    turn it off\n"
        f"\nFine: dbdyno-load 0.0.0 (fake), {there} of {len(SYSTEMS)} systems installed (dbdyno systems), swap.\n"
    )


def test_nothing_wrong_is_said_at_once(dbdyno, fake_load, findings):
    assert dbdyno("doctor")[1].startswith("Nothing was found that spoils a measurement.\n\nFine: dbdyno-load")


def test_every_finding_of_this_host_has_its_place(dbdyno, fake_load):
    status, out, _ = dbdyno("doctor")
    assert status == 0 and out.splitlines()[-1].startswith("Fine: ")


def test_only_the_systems_of_a_named_experiment_are_needed(dbdyno, fake_load, findings, monkeypatch):
    reason = "not installed: apt install it"
    monkeypatch.setattr(SYSTEMS["redis"], "missing", classmethod(lambda cls: reason))
    assert reason not in dbdyno("doctor")[1]
    out = dbdyno("doctor", "quickstart")[1]
    assert f"Spoils a measurement\n  redis is missing, so the run leaves it out\n    {reason}\n" in out
    assert "sqlite" in out.splitlines()[-1] and "chdb" not in out and "systems installed" not in out
    assert "neither a file nor a shipped experiment" in dbdyno("doctor", "nosuch")[2]


def test_disk_and_stacks_are_looked_at_if_the_experiment_needs_them(dbdyno, fake_load, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(cli_doctor, "examine", lambda *needs: asked.append(needs) or [])
    file = tmp_path / "attached.toml"
    keys = [
        'workload = "point-get"',
        'system = "redis://127.0.0.1:6379/0"',
        "rows = 10",
        "clients = [1]",
        "seconds = 1",
    ]
    file.write_text("\n".join([*keys, "profile = true"]))
    dbdyno("doctor", str(file))
    dbdyno("doctor", "quickstart")
    dbdyno("doctor")
    (attached, attached_profile), (private, profile), (any_, any_profile) = asked
    assert attached is None and private == any_ is not None
    assert (attached_profile, profile, any_profile) == (True, False, True)


def test_a_load_client_that_is_not_there_is_a_finding(dbdyno, monkeypatch, findings):
    monkeypatch.setenv("DBDYNO_LOAD", "/nowhere")
    status, out, _ = dbdyno("doctor")
    assert status == 0 and "  dbdyno-load cannot be used\n    DBDYNO_LOAD=/nowhere" in out
