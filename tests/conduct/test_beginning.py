"""A new run's records before anything is run."""

import errno
import hashlib
import json
import os
from pathlib import Path

import pytest

from dbdyno.conduct.beginning import describe_conditions, say_of
from dbdyno.conduct.listener import Listener
from dbdyno.conduct.run import conduct
from dbdyno.results.lock import is_running
from helpers import experiment


def test_the_load_client_is_named_by_its_hash(fake_load):
    program = Path(os.environ["DBDYNO_LOAD"])
    assert describe_conditions()["dbdyno_load_sha256"] == hashlib.sha256(program.read_bytes()).hexdigest()


def test_a_run_holds_its_folder_from_its_beginning_to_its_end(fake_load, fake_system, tmp_path):
    class Looking(Listener):
        def run_begins(self, folder, trials, trial_s):
            assert is_running(folder) and json.loads((folder / "run.json").read_text())["state"] == "running"
            looked.append(trials)

    looked = []
    end = conduct(experiment(clients=[1], seconds=1, host=False), "dbdyno run mine", tmp_path, Looking())
    assert looked == [1] and not is_running(end.folder)


@pytest.mark.parametrize(("number", "said"), [(errno.ENOSPC, "free some space"), (errno.EIO, "could not go on")])
def test_only_a_full_disk_is_helped_by_space(number, said):
    assert said in say_of(OSError(number, "why"))
