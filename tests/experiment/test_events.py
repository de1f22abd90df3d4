"""An event is one of three things, at a second with measured seconds before it; errors name the line."""

import pytest

from dbdyno.errors import UserError
from dbdyno.experiment.events import Event
from dbdyno.experiment.read import read_experiment
from dbdyno.experiment.toml import parse_toml
from dbdyno.experiment.write import to_toml

GOOD = """\
workload = "game"
system = ["mariadb"]
scale = "small"
rows = 10
clients = [1]
seconds = { small = 10, full = 100 }
warmup_seconds = 2

[[events]]
at = { small = 5, full = 60 }
sql = "ANALYZE TABLE player"

[[events]]
name = "copy of the data"
at = 8
command = "mysqldump 'mysql://me:hidden@host/x'"
if_fails = "warn"
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(GOOD)
    return path


def test_events_are_read_with_their_lines_and_can_be_written_again(file, tmp_path):
    experiment = read_experiment(str(file)).experiment
    first, second = experiment.events
    assert (first.at, first.way, first.label, first.if_fails) == (5, "sql", "ANALYZE TABLE player", "error")
    assert (first.where, second.where) == ("events: line 9: ", "events: line 13: ")
    assert (second.label, second.text) == ("copy of the data", "mysqldump 'mysql://me:***@host/x'")
    again = tmp_path / "again.toml"
    again.write_text(to_toml(experiment))
    written = read_experiment(str(again)).experiment.events
    assert [event.model_dump() for event in written] == [event.model_dump() for event in experiment.events]
    assert read_experiment(str(file), {"scale": "full"}).experiment.events[0].at == 60
    assert "events" not in parse_toml(to_toml(read_experiment("game").experiment))


def test_a_long_text_is_named_by_its_beginning():
    event = Event(at=5, sql="ALTER TABLE player\n  ADD INDEX by_score (score)")
    assert event.label == "ALTER TABLE player ADD…" and len(event.label) <= 24
    assert (Event(at=1, action="kill").is_outage, Event(at=1, action="backup").is_outage) == (True, False)
    assert event.where == "events: 'ALTER TABLE player ADD…': "


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "at = 8",
            "at = 12",
            "line 15: events: at = 12: the trial is over by then: it ends after 12 s (2 s of warm-up",
        ),
        ("at = 8", "at = 4", "line 15: events: at = 4: give 5 or more: 3 s are measured before it"),
        ("at = 8", "at = -1", "line 15: events.1.at = -1"),
        (
            'sql = "ANALYZE TABLE player"',
            "",
            "line 9: events.0: an event has one of sql, command, action; this one has",
        ),
        ("if_fails", 'sql = "SELECT 1"\nif_fails', "line 13: events.1: an event has one of sql, command, action; this"),
        ("if_fails", "if_fail", "line 17: there is no key 'events.1.if_fail'; did you mean 'if_fails'?"),
        ('if_fails = "warn"', 'if_fails = "stop"', "line 17: events.1.if_fails = 'stop'"),
        ("if_fails", 'table = "player"\nif_fails', "line 13: events.1: table: only alter and vacuum-full take one"),
        ("copy of the data", "two\\nlines", "give text in one line"),
        ("warmup_seconds = 2", 'warmup = "auto"', "events: warmup = 'auto' needs trials that nothing disturbs"),
        (
            "warmup_seconds = 2",
            'profile = "on-stall"',
            "events: profile = 'on-stall' needs trials that nothing disturbs",
        ),
        ("warmup_seconds = 2", "confirm_limit = true", "events: confirm_limit needs trials that nothing disturbs"),
        ("warmup_seconds = 2", 'find_rate = "p99 < 1ms"', "events: find_rate needs trials that nothing disturbs"),
        ('workload = "game"', 'workload = "durability"', "events: 'durability' runs without clients of dbdyno"),
    ],
)
def test_what_cannot_be_is_refused_when_it_is_read(file, old, new, words):
    assert old in GOOD
    file.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(UserError) as refusal:
        read_experiment(str(file))
    assert words in str(refusal.value) and "hidden" not in str(refusal.value)


def test_seconds_of_the_command_line_move_the_end(file):
    with pytest.raises(UserError, match="line 15: events: at = 8: the trial is over by then: it ends after 7 s"):
        read_experiment(str(file), {"seconds": 5})


def test_more_events_than_anybody_reads_are_refused(file):
    file.write_text(GOOD + '\n[[events]]\nat = 6\naction = "dump"\n' * 20)
    with pytest.raises(UserError, match="22 events: at most 20"):
        read_experiment(str(file))
