#!/usr/bin/python3
"""Takes ttserver's options and answers its binary protocol from memory, as Tokyo Tyrant 1.1.41 does.

It runs as the user of servers, with what Python itself brings along.
"""

import socket
import struct
import sys
import threading

TYPES = {"tch": "hash", "tcb": "B+ tree", "tct": "table"}
WITH_VALUE = ("-host", "-port", "-thnum", "-ulog")
COUNTED = {0x10: "put", 0x11: "putkeep", 0x20: "out", 0x30: "get", 0x31: "mget", 0x90: "misc"}
records, counts, lock = {}, dict.fromkeys(COUNTED.values(), 0), threading.Lock()


def options(words):
    """Return the options and the name of the database; ends as ttserver does if there is one that it does not know."""
    given, rest = {}, list(words)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option == "--version":
            print("Tokyo Tyrant version 1.1.41 (324:0.91) for Linux")
            sys.exit()
        if option in WITH_VALUE and rest:
            given[option] = rest.pop(0)
        elif option != "-le":
            sys.exit(f"ttserver: invalid option {option}")
    return given, rest.pop() if rest else "*"


class Conversation:
    """One client's connection."""

    def __init__(self, connection, kind):
        self.stream, self.kind = connection.makefile("rwb"), kind

    def number(self):
        return struct.unpack(">I", self.exactly(4))[0]

    def exactly(self, size):
        data = self.stream.read(size)
        if len(data) < size:
            raise EOFError
        return data

    def text(self):
        return self.exactly(self.number())

    def texts(self, *sizes):
        return [self.exactly(size) for size in sizes]

    def serve(self):
        answers = {
            **{0x10: self.put, 0x11: self.put, 0x20: self.remove, 0x30: self.get, 0x31: self.get_many},
            **{0x38: self.size, 0x58: self.keys, 0x88: lambda _: answer_with(stat(self.kind)), 0x90: self.call},
        }
        while True:
            magic, command = self.exactly(2)
            assert magic == 0xC8
            with lock:
                name = COUNTED.get(command)
                counts[name] = counts.get(name, 0) + 1
            self.stream.write(answers[command](command))
            self.stream.flush()

    def put(self, command):
        key, value = self.texts(self.number(), self.number())
        with lock:
            if command == 0x11 and key in records:
                return b"\1"
            records[key] = value
        return b"\0"

    def remove(self, _):
        return b"\1" if records.pop(self.text(), None) is None else b"\0"

    def get(self, _):
        return answer_with(records.get(self.text()))

    def get_many(self, _):
        keys = [self.text() for _ in range(self.number())]
        there = [(key, records[key]) for key in keys if key in records]
        return several(len(there), b"".join(size(key) + size(value) + key + value for key, value in there))

    def size(self, _):
        value = records.get(self.text())
        return b"\1" if value is None else b"\0" + size(value)

    def keys(self, _):
        length, most = self.number(), self.number()
        prefix = self.exactly(length)
        keys = [key for key in list(records) if key.startswith(prefix)][: None if most == 0xFFFFFFFF else most]
        return several(len(keys), b"".join(size(key) + key for key in keys))

    def call(self, _):
        length, _, count = self.number(), self.number(), self.number()
        name = self.exactly(length)
        return self.function(name, [self.text() for _ in range(count)])

    def function(self, name, arguments):
        if self.kind != "table" or name not in (b"setindex", b"search"):
            return b"\1" + struct.pack(">I", 0)
        if name == b"setindex":
            return several(0, b"")
        _, column, operator, wanted = arguments[0].split(b"\0")
        same = (lambda a, b: int(a) == int(b)) if operator == b"8" else (lambda a, b: a == b)
        for key, record in list(records.items()):
            parts = record.split(b"\0")
            columns = dict(zip(parts[::2], parts[1::2], strict=True))
            if column in columns and same(columns[column], wanted):
                element = b"\0" + key + b"\0" + record
                return several(1, size(element) + element)
        return several(0, b"")


def size(data):
    return struct.pack(">I", len(data))


def answer_with(value):
    return b"\1" if value is None else b"\0" + size(value) + value


def several(count, data):
    return b"\0" + struct.pack(">I", count) + data


def stat(kind):
    figures = {"version": "1.1.41", "type": kind, "rnum": len(records), "size": sum(map(len, records.values()))}
    figures |= {f"cnt_{name}": count for name, count in counts.items() if name}
    return "".join(f"{key}\t{value}\n" for key, value in figures.items()).encode()


def serve(connection, kind):
    try:
        Conversation(connection, kind).serve()
    except (EOFError, OSError):
        connection.close()


def main():
    given, database = options(sys.argv[1:])
    kind = TYPES[database.partition("#")[0].rpartition(".")[2]]
    if given["-port"] == "0":
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(given["-host"])
        listener.listen(64)
    else:
        listener = socket.create_server((given["-host"], int(given["-port"])), backlog=64)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, kind), daemon=True).start()


main()
