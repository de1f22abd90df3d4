"""A bound on how deeply the types of columns nest that cassandra-driver reads.

The driver reads a type by calling itself for each type within, in C and without counting. Some thousand levels take all
of a thread's stack, and SIGSEGV ends the process before it can say what came.
"""

from __future__ import annotations

import threading
from typing import Any

from cassandra import DriverException, cqltypes
from cassandra.protocol import ProtocolHandler, ResultMessage

MOST_NESTED = 100
"""Deepest nesting of a type. dbdyno's tables nest none, those of Cassandra itself three."""
_RESULT = ProtocolHandler.message_types_by_opcode[ResultMessage.opcode]
_PARSE = cqltypes.parse_casstype_args
_reading = threading.local()


def bound_nesting() -> None:
    """Have the driver raise DriverException for types that nest deeper, in answers and in names of types.

    May be called again.
    """
    ProtocolHandler.message_types_by_opcode[ResultMessage.opcode] = _BOUNDED
    cqltypes.parse_casstype_args = _parse


def _read_type(cls: Any, answer: Any, user_types: Any) -> Any:
    depth = getattr(_reading, "depth", 0)
    if depth > MOST_NESTED:
        raise _too_deep()
    _reading.depth = depth + 1
    try:
        # This is called again for each type within.
        return super(_BOUNDED, cls).read_type(answer, user_types)
    finally:
        _reading.depth = depth


def _parse(name: str) -> Any:
    """Return the type of this name; each "(" may begin a deeper level."""
    if name.count("(") > MOST_NESTED:
        raise _too_deep()
    return _PARSE(name)


def _too_deep() -> DriverException:
    return DriverException(f"the type of a column nests more than {MOST_NESTED} deep")


_BOUNDED: Any = type("BoundedResultMessage", (_RESULT,), {"read_type": classmethod(_read_type)})
