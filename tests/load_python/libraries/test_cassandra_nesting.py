"""Types that nest, as cassandra-driver reads them from an answer."""

import struct

import pytest

pytest.importorskip("cassandra")

from cassandra import DriverException, cqltypes
from cassandra.protocol import ProtocolHandler, ResultMessage

from dbdyno.load_python.libraries.cassandra_nesting import MOST_NESTED, bound_nesting

LIST, INT, CUSTOM = b"\0\x20", b"\0\x09", b"\0\0"


def types_of(*columns):
    """Return the types that the driver reads from the answer to a query without rows."""
    bound_nesting()
    named = b"".join(b"\0\x01c" + column for column in columns)
    body = struct.pack(">iii", 2, 1, len(columns)) + b"\0\x01k\0\x01t" + named + struct.pack(">i", 0)
    answer = ProtocolHandler.decode_message(4, {}, 0, 0, ResultMessage.opcode, body, None, None)
    return [name.cql_parameterized_type() for name in answer.column_types]


def named(depth):
    name = b"ListType(" * depth + b"Int32Type" + b")" * depth
    return CUSTOM + struct.pack(">H", len(name)) + name


@pytest.mark.parametrize("nested", [lambda depth: LIST * depth + INT, named])
def test_types_nest_as_deeply_as_is_allowed_and_no_deeper(nested):
    deepest = "list<" * MOST_NESTED + "int" + ">" * MOST_NESTED
    assert types_of(nested(MOST_NESTED), nested(1), INT) == [deepest, "list<int>", "int"]
    with pytest.raises(DriverException, match=f"the type of a column nests more than {MOST_NESTED} deep"):
        types_of(nested(MOST_NESTED + 1))
    assert types_of(nested(2)) == ["list<list<int>>"]


def test_names_of_types_in_a_schema_are_bounded_too():
    bound_nesting()
    with pytest.raises(DriverException, match="nests more than"):
        cqltypes.lookup_casstype("SetType(" * 50_000)
