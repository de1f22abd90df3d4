"""The echo sends back what comes, and ends with its connection."""

import socket
import subprocess
import sys

from dbdyno.observe.gauges import echo


def test_what_comes_is_sent_back_until_the_connection_ends():
    with subprocess.Popen([sys.executable, "-I", echo.__file__], stdout=subprocess.PIPE, text=True) as process:
        with socket.create_connection(("127.0.0.1", int(process.stdout.readline())), 5) as connection:
            connection.sendall(b"yes")
            assert connection.recv(3, socket.MSG_WAITALL) == b"yes"
        assert process.wait(5) == 0


def test_it_ends_if_nobody_connects(monkeypatch, capsys):
    """It stayed if dbdyno was killed in that moment."""
    monkeypatch.setattr(echo, "PATIENCE_S", 0.01)
    echo.main()
    assert capsys.readouterr().out.strip().isdecimal()
