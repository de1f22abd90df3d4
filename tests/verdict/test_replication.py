"""Commits that wait for another node are found in the states of connections, and in a cluster's counters."""

import pytest

from dbdyno.verdict import replication
from dbdyno.verdict.evidence import Measured
from dbdyno.verdict.judge import judge

from .made import IDLE_HOST, host, process, trial, waits

ACK = "Waiting for semi-sync ACK from slave"


def signs(columns, **about):
    return list(replication.replication(Measured.of(trial(host(IDLE_HOST) | columns, **about))))


def waiting(name, count):
    return {f"locks.mariadb.{name}": count, "locks.mariadb.locks": 0.0}


@pytest.mark.parametrize("name", [ACK, "IPC:SyncRep", "Waiting for certification", "Waiting for flow control"])
def test_commits_that_wait_for_another_node(name):
    assert signs(waiting(name, 6.0)) == [f"6.0 commits on mariadb waited for another node ({name})"]
    assert not signs(waiting(name, 4.0))


def test_other_waits_are_none_for_another_node():
    assert not signs(waiting("Lock:relation", 15.0))


def galera(**counted):
    return {f"store.mariadb.galera_{name}_total": value for name, value in counted.items()}


def test_a_node_that_its_group_pauses():
    assert signs(galera(paused_s=0.4)) == ["flow control paused mariadb 40% of the time"]
    assert not signs(galera(paused_s=0.05))


def test_commits_that_a_group_refuses():
    refused = galera(commits=900, certification_failures=60, aborted_for_another=40)
    assert signs(refused) == [
        "mariadb committed 900 transactions/s, 60.0/s failed certification and 40.0/s gave way to another node's"
    ]
    assert not signs(galera(commits=990, certification_failures=10, aborted_for_another=0))
    assert not signs(galera(commits=0, certification_failures=0, aborted_for_another=0))


def test_a_flush_at_commit_that_waits_for_a_replica_is_named_by_the_replica():
    committing = host(IDLE_HOST) | process("client", cpu=0.1) | process("mariadb", cpu=0.3)
    committing |= waits(cpu=0.3, commit=14.0, client=1.7)
    assert judge(trial(committing)).verdict.limit == "commit"
    verdict = judge(trial(committing | waiting(ACK, 13.5))).verdict
    assert (verdict.limit, verdict.confidence) == ("replication", "high")
    assert f"13.5 commits on mariadb waited for another node ({ACK})" in verdict.sentence
