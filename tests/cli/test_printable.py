"""Nothing that is printed reaches a terminal as a control character."""

import io
import json
import os
import pty
import subprocess
import sys

from dbdyno.cli.printable import PrintableStream, printable

ESCAPES = "\x1b[31mred\x07\r\x9b2J\x7f\u202e"


def test_control_characters_are_shown_as_pictures_of_them():
    assert printable(ESCAPES) == "␛[31mred␇␍�2J␡�"


def test_what_is_text_stays_as_it_is():
    assert printable("µs\t≥ 5\nä 漢") == "µs\t≥ 5\nä 漢"


def test_json_stays_json():
    document = json.dumps({"label": "a\x1b\x9b"}, ensure_ascii=False)
    assert json.loads(printable(document)) == {"label": "a\x1b�"}


def test_a_stream_prints_what_is_printable_and_leaves_rich_its_own():
    buffer = io.BytesIO()
    stream = PrintableStream(io.TextIOWrapper(buffer, "utf-8"))
    print(ESCAPES, file=stream)
    print("\x1b[1mbold", file=stream.rich_proxied_file, flush=True)
    assert buffer.getvalue().decode() == "␛[31mred␇␍�2J␡�\n\x1b[1mbold\n"


def test_the_command_prints_no_control_character_that_it_was_given():
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "dbdyno", "show", f"/no{ESCAPES}run"]
    subprocess.run(command, stdout=theirs, stderr=theirs, check=False, timeout=60)
    os.close(theirs)
    said = os.read(ours, 1 << 16).decode()
    assert "is not a run" in said
    assert not {"\x1b", "\x07", "\x9b", "\x7f"} & set(said)
