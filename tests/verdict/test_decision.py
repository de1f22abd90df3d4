"""The widest band names the limit, unless the client, the rate that was asked for, or stalls come before."""

from dataclasses import replace

import numpy as np
import pytest

from dbdyno.verdict.budget import time_budget
from dbdyno.verdict.decision import limited

from .made import BUSY_HOST, IDLE_HOST, host, process, trial, waits


def found(made):
    return limited(made, time_budget(made))


IDLE = host(IDLE_HOST)
CPU = waits(cpu=2, cpu_wait=13.5, client=0.5) | process("mariadb", cpu=1.5, queue=13) | host(BUSY_HOST)
PRESSURE = {"pressure.io_some_s_total": 0.6}


@pytest.mark.parametrize(
    ("columns", "limit", "confidence", "runner_up"),
    [
        (CPU, "server-cpu", "high", None),
        (waits(cpu=2, cpu_wait=13.5, client=0.5), "server-cpu", "medium", None),
        (waits(disk=12, cpu=2, client=2) | IDLE | PRESSURE, "disk", "high", "server-cpu"),
        (waits(disk=12, cpu=2, client=2) | IDLE, "disk", "medium", "server-cpu"),
        (waits(lock=15, commit=1) | IDLE, "lock", "high", "commit"),
        (waits(commit=14, cpu=1, client=1) | IDLE | PRESSURE, "commit", "high", "server-cpu"),
        (waits(client=15.5, cpu=0.5) | IDLE, "network", "high", None),
        (waits(other=14, cpu=2) | IDLE, "unexplained", "low", "server-cpu"),
        (process("mariadb", cpu=0.3) | IDLE, "unexplained", "low", None),
        (waits(lock=5, cpu=4, disk=4, client=3), "lock", "high", "server-cpu"),
        (waits(disk=6, cpu=5, client=5) | IDLE, "disk", "low", "server-cpu"),
    ],
)
def test_the_widest_band(columns, limit, confidence, runner_up):
    said = found(trial(columns))
    assert (said.limit, said.confidence, said.runner_up) == (limit, confidence, runner_up)
    assert said.in_flight == 16


def test_what_an_embedded_store_does_not_say_itself_is_not_sure():
    def of(**states):
        return found(trial(waits("client", **states) | PRESSURE, servers=[], embedded=True))

    assert (of(lock=15).limit, of(lock=15).confidence) == ("lock", "medium")
    assert (of(lock=15, commit=1).limit, of(lock=15, commit=1).confidence) == ("commit", "high")


def test_a_figure_that_only_shows_how_it_was_makes_nothing_surer():
    waited = waits(commit=6, cpu=5, client=5) | IDLE
    flushed = {"disk.sda.flushes_total": 20, "disk.sda.flush_s_total": 0.4}
    said = found(trial(waited | flushed))
    assert (said.limit, said.confidence, said.signs) == ("commit", "low", ())
    assert said.figures == ("20 flushes/s on sda, 20 ms each",)
    assert found(trial(waited | flushed | PRESSURE)).confidence == "medium"
    written = {"store.mariadb.checkpointer_page_writes_total": 50}
    assert found(trial(waited | flushed | written)).figures == said.figures
    waited_for_disk = found(trial(waits(disk=12, cpu=4) | IDLE | flushed | written))
    assert waited_for_disk.figures == (*said.figures, "mariadb wrote 50 pages/s, 100% by checkpoints")
    assert waited_for_disk.confidence == "medium"
    assert found(trial(CPU | flushed)).figures == ()


def test_what_waits_unseen_in_front_of_a_used_up_resource_waits_for_that():
    busy = waits("redis", cpu=0.97, client=0.03) | IDLE
    said = found(trial(busy, servers=[{"name": "redis"}]))
    assert (said.limit, said.confidence, said.runner_up) == ("server-cpu", "medium", "unexplained")
    assert found(trial(process("mariadb", cpu=0.1) | IDLE | PRESSURE)).limit == "unexplained"


def test_the_signs_of_a_client_that_is_the_bottleneck_go_before():
    said = found(trial(CPU, cpu_s=1.9))
    assert (said.limit, said.runner_up) == ("client", "server-cpu")
    assert "95% busy" in said.signs[0] and said.confidence == "medium"


@pytest.mark.parametrize(
    ("columns", "limit", "runner_up"),
    [
        (CPU, "server-cpu", None),
        (waits(cpu=2, cpu_wait=11, client=3) | process("client", queue=2) | host(BUSY_HOST), "server-cpu", "client"),
        (waits("redis", cpu=0.97, client=0.03) | IDLE, "server-cpu", None),
        (process("mariadb", cpu=0.3) | IDLE, "client", "unexplained"),
    ],
    ids=["server", "server and some client", "event loop", "nothing seen"],
)
def test_a_figure_near_the_clients_own_is_doubted_where_the_time_budget_has_little_in_the_client(
    columns, limit, runner_up
):
    servers = [{"name": "redis" if "waits.redis.cpu" in columns else "mariadb"}]
    said = found(trial(columns, client_ceiling_per_s=1250.0, servers=servers))
    assert (said.limit, said.runner_up, said.confidence) == (limit, runner_up, "low")
    assert any("it reached 80% of the 1,250/s its client reaches" in sign for sign in said.signs)
    assert said.signs[-1].startswith("yet ") == (limit != "client")


def test_a_figure_near_the_clients_own_is_the_clients_where_the_time_budget_agrees():
    columns = waits(client=15.9, cpu=0.1) | process("client", queue=1.9) | host(BUSY_HOST)
    said = found(trial(columns, client_ceiling_per_s=1250.0))
    assert (said.limit, said.confidence) == ("client", "high")


def test_a_rate_that_was_followed_is_all_that_was_asked_for():
    assert found(trial(CPU, offered=1000)).limit == "rate"
    assert found(trial(CPU, offered=2000)).limit == "server-cpu"


STALLED = np.isin(np.arange(11), (3, 4, 8))


def test_long_stalls_that_nothing_explains_come_before_what_limits_the_rest():
    # Samples stand in the middle of a second, so three that are not there leave two seconds dark.
    dark = np.where(np.isin(np.arange(13), (4, 5, 6, 9, 10)), np.nan, 1.0)
    columns = {name: value * dark for name, value in CPU.items() if name.startswith("waits.")} | IDLE
    said = found(trial(columns, completed=np.where(STALLED, 0, 1000)))
    assert (said.limit, said.confidence, said.runner_up) == ("unexplained", "low", "server-cpu")
    assert said.signs == ("throughput stalled in 3 of 10 s; no observation explains it",)
    assert found(trial(columns, completed=np.where(STALLED, 500, 1000))).limit == "server-cpu"


def test_stalls_of_a_known_cause_are_not_unknown():
    assert found(trial(waits(disk=15, cpu=1), completed=np.where(STALLED, 0, 1000))).limit == "disk"


def test_an_open_loops_stalls_without_anything_in_flight_explain_nothing():
    said = found(trial(waits(disk=4), offered=2000, completed=np.where(STALLED, 0, 1000)))
    assert said.limit == "disk"


@pytest.mark.parametrize(
    ("confirmation", "confidence"),
    [
        ({"limit": "disk", "followed": 0.9}, "high"),
        ({"limit": "disk", "followed": 0.1}, "low"),
        ({"limit": "disk", "followed": 0.3}, "medium"),
        ({"limit": "disk", "followed": 2.1}, "medium"),
        ({"limit": "disk", "why_not": "no rights"}, "medium"),
        ({"limit": "server-cpu", "followed": 0.1}, "medium"),
    ],
)
def test_what_came_of_taking_some_of_it_away_decides_how_sure_it_is(confirmation, confidence):
    made = trial(waits(disk=12, cpu=2, client=2) | IDLE)
    tried = replace(made, confirmation=confirmation)
    object.__setattr__(tried, "observations", made.observations)
    assert found(tried).confidence == confidence


def test_a_network_delay_that_was_asked_for_is_named_with_it():
    one = found(trial(waits(cpu=1, client=15) | process("client", cpu=0.1), network_delay_us=14_900))
    assert (one.limit, one.confidence) == ("network", "high")
    assert one.signs == ("14.9 waited for the injected delay of 14,900 µs before each request",)
