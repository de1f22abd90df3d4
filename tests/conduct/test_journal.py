"""`run.json` says at every moment what is known by then."""

import json

from dbdyno.conduct.journal import Journal
from dbdyno.results.facts import RunFacts
from dbdyno.results.write import RunFolder

BEGUN = RunFacts(trials=["001-a", "002-b"], state="running")


def test_each_addition_is_there_at_once(tmp_path):
    folder = RunFolder.create(tmp_path, "x", 0)
    journal = Journal(folder, BEGUN)

    def written():
        return json.loads((folder.path / "run.json").read_text())

    assert written() == json.loads(json.dumps(BEGUN.document()))
    assert (written()["trials"], written()["state"]) == (["001-a", "002-b"], "running")
    journal.add_trial("001-a-s01", after="001-a")
    journal.add_search({"limit": "p99 < 1ms"})
    assert written()["trials"] == ["001-a", "001-a-s01", "002-b"]
    journal.add_pass(["003-a", "004-b"])
    assert written()["passes"] == [2]
    assert written()["trials"] == ["001-a", "001-a-s01", "002-b", "003-a", "004-b"]
    assert written()["find_rate"] == [{"limit": "p99 < 1ms"}]
    journal.leave_out(["003-a", "004-b"], {"system": "a", "clients": [16, 32], "reason": "flat"})
    assert written()["trials"] == ["001-a", "001-a-s01", "002-b"]
    assert written()["left_out"] == [{"system": "a", "clients": [16, 32], "reason": "flat"}]
    journal.end("failed", "why")
    assert (written()["state"], written()["reason"]) == ("failed", "why")
    assert written()["ended_unix_s"] > 0


def test_a_resumed_run_keeps_the_order_of_its_keys(tmp_path):
    folder = RunFolder.create(tmp_path, "x", 0)
    keys = ("state", "trials", "sessions")
    journal = Journal(folder, RunFacts(trials=["001-a"], state="running", sessions=[]), keys)
    journal.add_limits([])
    written = list(json.loads((folder.path / "run.json").read_text()))
    assert written[:3] == list(keys) and written[-1] == "limits"
