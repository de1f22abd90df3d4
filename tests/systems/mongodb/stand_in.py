#!/usr/bin/python3
"""Takes mongod's options, runs FerretDB behind them, and answers what FerretDB does not know. FERRETDB: its program.

It runs as the user of servers, with what Python itself brings along.
"""

import argparse
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time

PROGRAM = os.environ.get("FERRETDB", "FERRETDB_PATH")
concern = [b"\x05\0\0\0\0"]


def options():
    parser = argparse.ArgumentParser(prog="mongod", allow_abbrev=False)
    for name in ("dbpath", "bind_ip", "port", "replSet", "wiredTigerCacheSizeGB", "journalCommitInterval"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--setParameter", action="append", default=[])
    parser.add_argument("--nounixsocket", action="store_true")
    parser.add_argument("--version", action="store_true")
    return parser.parse_args()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def element(name, value):
    """A document as an element of another."""
    return b"\x03" + name.encode() + b"\0" + value


def document(*elements):
    body = b"".join(elements) + b"\0"
    return struct.pack("<i", len(body) + 4) + body


OK = b"\x01ok\0" + struct.pack("<d", 1.0)


def own_answer(name, body):
    """The answer to a command here; None: FerretDB is asked."""
    if name == b"replSetInitiate":
        return document(OK)
    if name == b"setDefaultRWConcern":
        at = body.index(b"\x03defaultWriteConcern\0") + len(b"\x03defaultWriteConcern\0")
        concern[0] = body[at : at + struct.unpack_from("<i", body, at)[0]]
        return document(OK)
    if name == b"getDefaultRWConcern":
        return document(element("defaultWriteConcern", concern[0]), OK)
    return None


def exactly(connection, count):
    data = b""
    while len(data) < count:
        if not (more := connection.recv(count - len(data))):
            return b""
        data += more
    return data


def message_of(connection):
    head = exactly(connection, 4)
    return head + exactly(connection, struct.unpack("<i", head)[0] - 4) if head else b""


def pump(source, target, busy):
    while message := message_of(source):
        if busy and struct.unpack_from("<i", message, 12)[0] == 2013 and message[20] == 0:
            name = message[26 : message.index(b"\0", 26)]
            if answer := own_answer(name, message):
                reply = struct.pack("<iiiiiB", 21 + len(answer), 1, *struct.unpack_from("<i", message, 4), 2013, 0, 0)
                with busy:
                    source.sendall(reply + answer)
                continue
        target.sendall(message)
    target.shutdown(socket.SHUT_RDWR)


def serve(client, port):
    server = socket.create_connection(("127.0.0.1", port))
    for pair in ((client, server, threading.Lock()), (server, client, None)):
        threading.Thread(target=pump, args=pair, daemon=True).start()


def main():
    given = options()
    if given.version:
        print("db version v7.0.5\nBuild Info: {}")
        return
    inner = free_port()
    configuration = {
        "Listener": {"TCP": f"127.0.0.1:{inner}"},
        "Handler": "sqlite",
        "SQLiteURL": f"file:{given.dbpath}/",
    }
    behind = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE)
    behind.stdin.write(json.dumps(configuration).encode())
    behind.stdin.close()
    while True:
        try:
            socket.create_connection(("127.0.0.1", inner)).close()
            break
        except ConnectionRefusedError:
            if behind.poll() is not None:
                sys.exit("FerretDB ended")
            time.sleep(0.02)
    with socket.create_server(("127.0.0.1", int(given.port)), backlog=64) as listener:
        while True:
            serve(listener.accept()[0], inner)


main()
