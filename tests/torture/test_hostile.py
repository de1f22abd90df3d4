"""The fuzzer of servers itself: what is played as it was recorded is verified, and what is changed is noticed."""

import asyncio
import json
from random import Random

import pytest

from torture import hostile
from torture import hostile_playback as playback
from torture.hostile_mutations import WAYS, Played
from torture.hostile_playback import Verdict, _judge, event_loop, play, tail_bytes
from torture.hostile_recording import READS, Conversation, Exchange, record
from torture.part import Report


@pytest.fixture(scope="module")
def run():
    return record("handlersocket")[1][0]


def test_what_is_played_as_it_was_recorded_is_verified(run, monkeypatch):
    monkeypatch.setattr("torture.hostile_playback.mutate", lambda answers, *_: [Played(answer) for answer in answers])
    with event_loop() as loop:
        verdict = play(loop, run, [], "seed")
    assert verdict.kind is None and int(verdict.seen) >= READS


def test_a_changed_row_is_not_verified(run, monkeypatch):
    def spoil(answers, *_):
        return [Played(answer.replace(b"xxxy", b"xxxz").replace(b"yyyy", b"yyzy")) for answer in answers]

    monkeypatch.setattr("torture.hostile_playback.mutate", spoil)
    with event_loop() as loop:
        assert play(loop, run, [], "seed") == Verdict(None, "0")


class Part:
    """The row that was given out."""

    right = 1


def test_more_rows_verified_than_were_right_crashes_and_hangs_are_told():
    def said(verified):
        records = ({"record": "total", "reads_verified": verified}, {"record": "end"})
        return "\n".join(map(json.dumps, records))

    conversation = Conversation({"phases": ["run"]}, [], [])
    assert _judge(conversation, Part, 0, said(1), False).kind is None
    assert _judge(conversation, Part, 0, said(2), False).kind == "wrong data"
    assert _judge(conversation, Part, 0, "", False).kind == "crash"
    assert _judge(conversation, Part, 101, said(1), False).kind == "crash"
    assert _judge(conversation, Part, -6, "memory allocation of 9 bytes failed", False).kind == "memory"
    assert _judge(conversation, Part, -9, "", True).kind == "hang"


def test_words_of_a_server_do_not_end_a_record():
    said = json.dumps({"record": "end", "reason": "one\x85two\u2028three"}, ensure_ascii=False)
    assert _judge(Conversation({"phases": ["run"]}, [], []), Part, 1, f"{said}\n", False).kind is None


def test_a_row_is_known_by_its_number_whatever_stands_before_it():
    answer = b"\x009" + b"17" + b"x" * 118 + b"x\0" + b"17" + b"y" * 118
    assert Exchange(b"", answer).row() == [b"17" + b"x" * 117, b"17" + b"y" * 117]
    assert Exchange(b"", b"OK").row() == []


def test_requests_are_told_apart_by_their_ends():
    assert tail_bytes([b"A1-07-", b"A1-13-", b"B2-1-"]) == 3


def test_a_key_that_is_sent_as_a_text_asks_for_the_same_row():
    row = [b"187" + b"x" * 117, b"187" + b"y" * 117]
    exchanges = [Exchange(b"id\0\0\0\x04\0\0\0\xbb", b"..".join(row)), Exchange(b"id\0\0\0\x04\0\0\0\x09", b"")]
    part = playback.Part(Conversation({}, [], [exchanges]), [], Random(1))
    assert part.is_right(b"id\0\0\0\x03187", b"..".join(row))
    assert not part.is_right(b"id\0\0\0\x03187", row[0])
    assert not part.is_right(b"id\0\0\0\x03188", b"..".join(row))


def test_a_key_of_another_type_or_with_its_type_asks_for_the_same_row():
    assert playback.asks_for(b"Bs0\0\0\0\0\x02\0\xbb\0\1", 187)
    assert playback.asks_for(b"Bs0\0\0\0\0\x08\0\0\0\0\0\0\0\xbb\0\1", 187)
    assert playback.asks_for(b"\x17\x02\0\0\0\0\1\0\0\0\0\1\x08\0\xbb\0\0\0\0\0\0\0", 187)
    assert not playback.asks_for(b"Bs0\0\0\0\0\x02\1\xbb\0\1", 187)
    assert not playback.asks_for(b"\x17\1\x08\0\xbb\1\0\0\0\0\0\0", 187)


def test_a_request_longer_than_recorded_leaves_nothing_for_the_next(run):
    sent = []

    class Transport:
        def close(self):
            pass

    async def ask(*requests):
        connection = playback.Playback(playback.Part(run, [], Random(1)))
        connection._send = lambda played: sent.append(connection._came)
        connection.connection_made(Transport())
        for request in requests:
            connection.data_received(request)
        connection.connection_lost(None)

    asyncio.run(ask(run.connections[0][0].request + b"more", run.connections[0][1].request))
    assert sent == [b"", b""]


def test_conversations_are_counted_by_protocol(monkeypatch):
    assert len(WAYS) > 5
    monkeypatch.setattr(hostile, "PROTOCOLS", ("handlersocket",))
    report = Report("hostile", seed=1, quiet=True)
    hostile.run(1, range(20), report)
    assert list(report.rows()) == [("handlersocket", 20, 0)]
