"""Mutations of a recorded conversation: bits flipped, lengths changed, parts cut, repeated, spliced, late."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

LENGTHS = (
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\xff\xff\xff\x7f",
    b"\0\0\0\0",
    b"\x80\0\0\0",
    b"999999999",
    b"-1",
)
MOST_DELAY_S = 0.6


class Played(NamedTuple):
    """One answer as it is played: after a delay, in pieces of so many bytes (0: at once); ends: hang up behind it."""

    answer: bytes
    delay_s: float = 0.0
    piece_bytes: int = 0
    ends: bool = False


def mutate(answers: list[bytes], others: list[bytes], random: Random) -> list[Played]:
    """Return the answers of a connection with one to three things wrong; others: answers to splice in."""
    played = [Played(answer) for answer in answers]
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        at = random.randrange(len(played))
        played[at] = random.choice(WAYS)(played[at], others, random)
    return played


def _flip(played: Played, others: list[bytes], random: Random) -> Played:
    del others
    changed = bytearray(played.answer)
    for _ in range(random.choice((1, 1, 2, 8))):
        if changed:
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return played._replace(answer=bytes(changed))


def _length(played: Played, others: list[bytes], random: Random) -> Played:
    """Overwrite a few bytes by a number that is too large, too small, or none, mostly where lengths are."""
    del others
    at = random.randrange(min(len(played.answer), random.choice((8, 24, 1 << 20))) or 1)
    value = random.choice(LENGTHS)
    return played._replace(answer=played.answer[:at] + value + played.answer[at + len(value) :])


def _cut(played: Played, others: list[bytes], random: Random) -> Played:
    del others
    return played._replace(answer=played.answer[: random.randrange(len(played.answer) + 1)], ends=random.random() < 0.5)


def _drop(played: Played, others: list[bytes], random: Random) -> Played:
    del others
    at = random.randrange(len(played.answer) + 1)
    return played._replace(answer=played.answer[:at] + played.answer[at + random.randrange(1, 20) :])


def _repeat(played: Played, others: list[bytes], random: Random) -> Played:
    del others
    begin = random.choice((0, random.randrange(len(played.answer) + 1)))
    part = played.answer[begin : begin + random.randrange(1, len(played.answer) + 2)]
    times = random.choice((1, 1, 3, 1000))
    return played._replace(answer=(played.answer[:begin] + part * times + played.answer[begin:])[: 4 << 20])


def _splice(played: Played, others: list[bytes], random: Random) -> Played:
    other = random.choice(others)
    here, there = random.randrange(len(played.answer) + 1), random.randrange(len(other) + 1)
    return played._replace(answer=random.choice((other, played.answer[:here] + other[there:], played.answer + other)))


def _noise(played: Played, others: list[bytes], random: Random) -> Played:
    del others
    at = random.randrange(len(played.answer) + 1)
    return played._replace(answer=played.answer[:at] + random.randbytes(random.choice((1, 4, 64))) + played.answer[at:])


def _late(played: Played, others: list[bytes], random: Random) -> Played:
    del others
    return played._replace(delay_s=random.uniform(0, MOST_DELAY_S), piece_bytes=random.choice((0, 1, 7)))


WAYS = (_flip, _flip, _flip, _length, _length, _cut, _drop, _repeat, _splice, _noise, _late)
