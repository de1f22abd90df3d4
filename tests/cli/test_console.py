"""Rich's output holds control characters of rich alone."""

import io

from rich.live import Live
from rich.table import Table
from rich.text import Text

from dbdyno.cli.console import make_console


def printed(*what, **options):
    file = io.StringIO()
    make_console(file=file, width=60, **options).print(*what)
    return file.getvalue()


def test_other_peoples_text_is_printable():
    table = Table("system")
    table.add_row("red\x1b[2Jis")
    for what in ("a\x1b[2Jb", Text("a\x1b[2Jb"), table):
        assert "\x1b" not in printed(what)
        assert "␛[2J" in printed(what)


def test_styles_of_its_own_stay():
    said = printed(Text("a\x1b]0;title\x07b", "red"), force_terminal=True, color_system="standard")
    assert "\x1b[31ma␛]0;titleb\x1b[0m" in said


def test_a_live_line_moves_the_cursor_and_its_text_does_not():
    file = io.StringIO()
    console = make_console(file=file, width=60, force_terminal=True)
    with Live(Text("x\x1b[5Ay"), console=console, auto_refresh=False) as live:
        live.update(Text("x\x1b[5Az"), refresh=True)
    assert "\x1b[5A" not in file.getvalue()
    assert "␛[5A" in file.getvalue()
    assert "\x1b[?25l" in file.getvalue()
