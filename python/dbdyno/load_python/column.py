"""Columns, and the generator of each: a pure function of (key, version), as in crates/model, column.rs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dbdyno.load_python.choices import GOLDEN, mix

Value = int | str

_MASK = (1 << 64) - 1
_FIRST = ("Ada", "Bela", "Chidi", "Dora", "Eino", "Fatma", "Goro", "Hana")
_LAST = ("Abe", "Berg", "Costa", "Diaz", "Eze", "Fischer", "Gupta", "Horvat")

# Eight letters come from each number of a splitmix64 stream. In plain Python a row of the game costs 100 µs to check,
# more than some libraries take to fetch it; in numpy a column costs 6 µs, whatever its width.
_LETTERS_AT_ONCE = 8
_WIDEST = 1 << 12
_STREAM = np.arange(1, _WIDEST // _LETTERS_AT_ONCE + 1, dtype=np.uint64) * np.uint64(GOLDEN)
_SHIFTS = tuple(np.uint64(bits) for bits in (30, 27, 31))
_FACTORS = tuple(np.uint64(factor) for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_LOW_NIBBLES, _LETTERS_A = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x6161616161616161)


def letters(seed: int, width: int) -> str:
    """Return `width` letters `a` to `p` from a 64-bit seed; width at most 4096."""
    x = _STREAM[: -(-width // _LETTERS_AT_ONCE)] + np.uint64(seed)
    x ^= x >> _SHIFTS[0]
    x *= _FACTORS[0]
    x ^= x >> _SHIFTS[1]
    x *= _FACTORS[1]
    x ^= x >> _SHIFTS[2]
    x &= _LOW_NIBBLES
    x += _LETTERS_A
    return x.astype("<u8", copy=False).tobytes()[:width].decode("ascii")


def _seed(key: int, version: int, salt: int) -> int:
    rotated = ((version << 32) | (version >> 32)) & _MASK
    return mix(((key * GOLDEN) & _MASK) ^ rotated ^ salt)


@dataclass(frozen=True, slots=True)
class Column:
    """A column with its generator; width: in characters, 0 for whole numbers."""

    name: str
    width: int = 0
    versioned = False
    """True if a new version of a row has another value here."""
    is_int = True

    def value(self, key: int, version: int) -> Value:
        """Return the value in row `key` at `version`."""
        raise NotImplementedError

    def accepts(self, key: int, version: int, value: object) -> bool:
        """Say whether `found` is what the generator makes."""
        return value == self.value(key, version)


@dataclass(frozen=True, slots=True)
class Key(Column):
    """The key itself."""

    def value(self, key: int, version: int) -> Value:
        return key


@dataclass(frozen=True, slots=True)
class Counter(Key):
    """The key at first; then counted up by the store, so any value from there on is right."""

    def accepts(self, key: int, version: int, value: object) -> bool:
        return isinstance(value, int) and value >= key


@dataclass(frozen=True, slots=True)
class Version(Column):
    """The version."""

    versioned = True

    def value(self, key: int, version: int) -> Value:
        return version


@dataclass(frozen=True, slots=True)
class Number(Column):
    """A number in 0 to `below` - 1 that changes with the version."""

    versioned = True
    salt: int = 0
    below: int = 1

    def value(self, key: int, version: int) -> Value:
        return _seed(key, version, self.salt) % self.below


@dataclass(frozen=True, slots=True)
class Padded(Column):
    """The decimal key, padded with `pad` to the column's width."""

    is_int = False
    pad: str = "x"

    def value(self, key: int, version: int) -> Value:
        return str(key).ljust(self.width, self.pad)


@dataclass(frozen=True, slots=True)
class Email(Column):
    """`player<key>@mail<0..97>.example`, unique."""

    is_int = False

    def value(self, key: int, version: int) -> Value:
        return f"player{key}@mail{mix(key) % 97}.example"


@dataclass(frozen=True, slots=True)
class Name(Column):
    """A name from the key."""

    is_int = False

    def value(self, key: int, version: int) -> Value:
        h = mix(key)
        return f"{_FIRST[h % 8]} {_LAST[h // 8 % 8]} {key}"


@dataclass(frozen=True, slots=True)
class Letters(Column):
    """Letters that fill the column's width, from the key alone."""

    is_int = False
    salt: int = 0

    def value(self, key: int, version: int) -> Value:
        return letters(_seed(key, 0, self.salt), self.width)


@dataclass(frozen=True, slots=True)
class VersionedLetters(Letters):
    """Letters that fill the column's width and change with the version."""

    versioned = True

    def value(self, key: int, version: int) -> Value:
        return letters(_seed(key, version, self.salt), self.width)
