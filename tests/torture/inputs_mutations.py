"""Changes that make hostile inputs of good ones: values, documents, texts and bytes. All are drawn from a generator."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

DEEP = 3000
WORDS = (
    *("", " ", "\n", "\0", "-", "--", "=", "..", "/", "%", "%0A", "***", "\x1b[31mred\x1b[0m", "é" * 50, "\u2028", "￿"),
    *("last", "..last", "/dev/null", "/dev/zero", "/proc/self/mem", "/nonexistent/x", ".", "a" * 300, "x" * 20_000),
    *("1", "0", "-1", "1e400", "-1e400", "nan", "inf", "0x10", "9" * 23, "9" * 5000, "1..", "1..64", "64..1", "0..9"),
    *("1,1", "1,2,", ",", "1e9", "50%", "0%", "101%", "nan%", "1e400%", "p99 < 10ms", "p0 < 1s", "max < 0us", "auto"),
    *("true", "[]", "{}", "[" * DEEP, "{a = " * DEEP, '"', "'''", "small", "full", "huge", "uniform", "read-only"),
    *("mariadb", "redis?save=1%0Auser x", "mariadb?datad=/x", "postgresql?port=1", "sqlite", "sqlite?synchronous=off"),
    *("cache-aside(memcached, mariadb)", "cache-aside(" * 5, "cache-aside(" * DEEP + "x" + ")" * DEEP, "spread()"),
    *(
        "mysql://u@h:99999/d",
        "mysql://u:hid-den@127.0.0.1:1/d",
        "redis://h:0",
        "unix://",
        "mysql://[::1",
        "a://b@c:d@e",
    ),
    *("replicated(mariadb*99)", "result-cache(memcached*99, mariadb)", "galera?nodes=99999999999", "mysql@5.6", "x@1"),
)
NUMBERS = (0, 1, -1, 2, 255, 10**6, 2**31, 2**63, -(2**63) - 1, 10**23, 10**400, 0.0, -0.5, 1e-320, 1e308, 1e18, 0.1)
NOT_FINITE = (math.inf, -math.inf, math.nan)


def scalar(random: Random) -> Any:
    """Return a value that nobody expects."""
    return random.choice(
        (
            lambda: random.choice(WORDS),
            lambda: random.choice(NUMBERS),
            lambda: random.choice(NOT_FINITE),
            lambda: random.choice((True, False, None)),
            lambda: random.choice(([], {}, [[]], [None], [{}], {"": None}, [1, "a"], {"a": {"a": {}}})),
            lambda: nested(random.choice((2, 20, 200))),
        )
    )()


def nested(depth: int) -> Any:
    """Return lists and tables within each other."""
    value: Any = 1
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


def places(document: Any, most: int = 4000) -> list[tuple[Any, Any]]:
    """Return each container of a document with each of its keys or indexes."""
    positions, waiting = [], [document]
    while waiting and len(positions) < most:
        inner = waiting.pop()
        keys = list(inner) if isinstance(inner, dict) else range(len(inner)) if isinstance(inner, list) else ()
        positions += [(inner, key) for key in keys]
        waiting += [inner[key] for key in keys]
    return positions


def change(document: Any, random: Random) -> None:
    """Change one place of a document: its value, its kind, its presence, or its size."""
    positions = places(document)
    if not positions:
        return
    container, key = random.choice(positions)
    match random.randrange(8):
        case 0:
            del container[key]
        case 1:
            other, its_key = random.choice(positions)
            container[key] = other[its_key]
            if len(places(document)) > 3000:
                container[key] = None
        case 2 if isinstance(container, dict):
            container[random.choice(WORDS[:40])] = container.pop(key)
        case 3 if isinstance(container[key], int | float) and not isinstance(container[key], bool):
            container[key] = container[key] * random.choice((-1, 0, 1e-9, 1e9, 1e300)) if container[key] else 1
        case 4 if isinstance(container[key], str):
            container[key] = text(container[key], random)
        case 5 if isinstance(container, list):
            container[key:key] = [container[key]] * random.choice((1, 3, 50))
        case 6:
            container[key] = [container[key]] if random.random() < 0.5 else {"a": container[key]}
        case _:
            container[key] = scalar(random)


def text(good: str, random: Random) -> str:
    """Return a text changed in some places."""
    changed = good
    for _ in range(random.choice((1, 1, 2, 5))):
        begin = random.randint(0, len(changed))
        end = min(len(changed), begin + random.choice((0, 1, 1, 3, 20, 200)))
        put = random.choice((random.choice(WORDS), changed[begin:end] * 2, "", chr(random.randrange(0x300))))
        changed = changed[:begin] + put + changed[end:]
    return changed


def data(good: bytes, random: Random) -> bytes:
    """Return bytes changed in some places, cut, repeated, or others altogether."""
    kinds: tuple[Callable[[], bytes], ...] = (
        lambda: good[: random.randint(0, len(good))],
        lambda: good + random.randbytes(random.choice((1, 30))),
        lambda: random.randbytes(random.choice((0, 1, 100, 5000))),
        lambda: b"",
        lambda: _flipped(good, random),
        lambda: _flipped(good, random),
        lambda: good * 2,
        lambda: _numbers_changed(good, random),
    )
    return random.choice(kinds)()


def _flipped(good: bytes, random: Random) -> bytes:
    changed = bytearray(good)
    for _ in range(random.choice((1, 3, 30)) if good else 0):
        changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def _numbers_changed(good: bytes, random: Random) -> bytes:
    """Replace a number that is written in digits."""
    digits = [at for at, byte in enumerate(good[:5000]) if 48 <= byte <= 57]
    if not digits:
        return good
    at = random.choice(digits)
    return good[:at] + random.choice((b"1e400", b"9" * 23, b"-1", b"9" * 5000, b"1e18", b"NaN", b"0")) + good[at + 1 :]
