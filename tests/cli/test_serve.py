"""`dbdyno serve` and `dbdyno run --live`: the address is printed, and pages are there while they are wanted."""

import http.client
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest

# Loaded before a test waits for what needs it: that takes long on a crowded host.
import dbdyno.serve.server  # noqa: F401
from dbdyno.cli import serve
from helpers import wait_until
from synthetic_run import SYSTEMS, write_run

RUN = ("run", "game", "--system", "fake", "--clients", "1", "--seconds", "1", "--rows", "10")


def status_of(address):
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    connection.request("GET", f"{parts.path}?{parts.query}")
    return connection.getresponse().status


def address_in(text):
    return next(word for word in text.split() if word.startswith("http://127.0.0.1:"))


def test_the_pages_are_there_until_it_is_interrupted(tmp_path):
    write_run(tmp_path / "runs" / "one", SYSTEMS[:1], clients=(1,), seconds=2)
    command = [sys.executable, "-m", "dbdyno", "serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=_environment()) as process:
        said = process.stdout.readline()
        assert said.startswith("Runs in runs: http://127.0.0.1:") and status_of(address_in(said)) == 303
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(60) == 0 and process.stdout.read() == "Ctrl-C ends it.\n"
        finally:
            process.kill()


def _environment():
    return os.environ | {"PYTHONPATH": str(Path(serve.__file__).parents[2]), "PYTHONUNBUFFERED": "1"}


def test_a_run_is_shown_while_it_runs(dbdyno, fake_load, fake_system, capsys, tmp_path):
    go_on, seen = tmp_path / "go-on", []
    fake_load(await_file=str(go_on))

    def look():
        said = capsys.readouterr().out
        if "http://127.0.0.1:" not in said:
            return False  # The run has not begun yet.
        seen.append((said, status_of(address_in(said))))
        return True

    def look_and_let_go_on():
        try:
            wait_until(look)
        finally:
            go_on.touch()

    thread = threading.Thread(target=look_and_let_go_on)
    thread.start()
    status, _, err = dbdyno(*RUN, "--live")
    thread.join()
    assert (status, err) == (0, "")
    ((said, answered),) = seen
    assert "Live: " in said and answered == 303
    with pytest.raises(OSError):
        status_of(address_in(said))


def test_a_folder_that_is_not_there_is_named(dbdyno):
    status, _, err = dbdyno("serve", "nowhere")
    assert status == 2 and err == "dbdyno: nowhere: is not a folder; give the one that holds the runs\n"


def test_a_missing_library_is_named_with_its_extra(dbdyno, monkeypatch):
    monkeypatch.delitem(sys.modules, "dbdyno.serve.server", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    Path("runs").mkdir()
    status, _, err = dbdyno("serve")
    assert (status, err) == (2, "dbdyno: uvicorn is not installed: pip install 'dbdyno[serve]'\n")


def test_a_browser_is_opened_where_a_person_is_and_its_command_line_has_no_token(monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(serve.webbrowser, "open", lambda url: opened.append((url, Path(url[7:]).read_text())))
    monkeypatch.setattr(serve.sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    with serve.live_page(tmp_path) as address:
        ((url, page),) = opened
        assert address in page and "token" not in url and Path(url[7:]).parent.stat().st_mode & 0o077 == 0
    assert not Path(url[7:]).exists()


def test_no_browser_is_opened_in_a_pipe_or_without_a_desktop(monkeypatch, tmp_path):
    monkeypatch.setattr(serve.webbrowser, "open", lambda url: pytest.fail(f"opened {url}"))
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with serve.live_page(tmp_path):
        monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(serve.sys.stdout, "isatty", lambda: False, raising=False)
    with serve.live_page(tmp_path):
        pass
