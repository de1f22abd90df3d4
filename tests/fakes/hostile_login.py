"""A MongoDB server with a login, SCRAM-SHA-256, that asks too much of its clients or never ends."""

import hashlib
import hmac
import socket
import struct
from base64 import b64encode

import bson

from fakes.hostile import Behaviour

PASSWORD = "hidden"
MOST_ROUNDS = 2**31 - 1
_SALT = bytes(16)
_OP_QUERY, _OP_MSG = 2004, 2013
_HELLO = {
    "isWritablePrimary": True,
    "maxWireVersion": 17,
    "minWireVersion": 0,
    "maxBsonObjectSize": 1 << 24,
    "maxMessageSizeBytes": 48_000_000,
    "maxWriteBatchSize": 100_000,
    "saslSupportedMechs": ["SCRAM-SHA-256"],
    "ok": 1.0,
}


def mongodb(rounds: int) -> Behaviour:
    """Ask for so many rounds of hashing, prove to know the password, and never say that the login is done."""

    def behave(connection: socket.socket) -> None:
        first = server_first = b""
        while True:
            operation, asked = _read(connection)
            said = b""
            if "saslStart" in asked:
                first = asked["payload"].removeprefix(b"n,,")
                server_first = first[first.index(b"r=") :] + f"x,s={b64encode(_SALT).decode()},i={rounds}".encode()
                said = server_first
            elif asked.get("payload"):
                said = _signature(rounds, first, server_first, asked["payload"])
            login = {"conversationId": 1, "done": False, "payload": said, "ok": 1.0}
            _answer(connection, operation, login if {"saslStart", "saslContinue"} & asked.keys() else _HELLO)

    return behave


def _signature(rounds: int, first: bytes, server_first: bytes, last: bytes) -> bytes:
    salted = hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), _SALT, rounds)
    key = hmac.digest(salted, b"Server Key", "sha256")
    whole = b",".join([first, server_first, last[: last.index(b",p=")]])
    return b"v=" + b64encode(hmac.digest(key, whole, "sha256"))


def _read(connection: socket.socket) -> tuple[int, dict]:
    """Return the operation of a message and its document; raises ConnectionError at the end."""
    size, _, _, operation = struct.unpack("<4i", _exactly(connection, 16))
    body = _exactly(connection, size - 16)
    # A query has flags, the collection's name and two numbers; a message has flags and the kind of its one section.
    begin = body.index(b"\0", 4) + 9 if operation == _OP_QUERY else 5
    (length,) = struct.unpack_from("<i", body, begin)
    return operation, bson.decode(body[begin : begin + length])


def _exactly(connection: socket.socket, size: int) -> bytes:
    came = connection.recv(size, socket.MSG_WAITALL)
    if len(came) < size:
        raise ConnectionError
    return came


def _answer(connection: socket.socket, operation: int, document: dict) -> None:
    encoded = bson.encode(document)
    body = struct.pack("<iqii", 8, 0, 0, 1) if operation == _OP_QUERY else bytes(5)
    answer = 1 if operation == _OP_QUERY else _OP_MSG
    connection.sendall(struct.pack("<4i", 16 + len(body) + len(encoded), 1, 1, answer) + body + encoded)
