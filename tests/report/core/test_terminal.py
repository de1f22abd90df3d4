"""Tables and lines fit their terminal, and every word of them is whole."""

import io
import shlex

import pytest
from rich.console import Console
from rich.text import Text

from dbdyno.report.core.terminal import Column, command_lines, heading, keep, print_columns, print_command, say, wrapped

LONG = "mariadb innodb_flush_log_at_trx_commit=1 sync_binlog=1"
LOCK = "wait/synch/rwlock/innodb/index_tree_rw_lock/" + "x" * 40


def printed(width, write, *arguments, **options):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    write(*arguments, console, **options)
    return console.file.getvalue()


def table(width, *columns, **options):
    return printed(width, print_columns, columns, **options).splitlines()


def test_figures_end_and_words_begin_under_their_headings():
    lines = table(40, Column("name", ["a", "bcdef"], left=True), Column("per s", ["1", "1,234"]))
    assert lines == ["  name   per s", "  a          1", "  bcdef  1,234"]


def test_a_heading_of_several_lines_stands_on_the_bottom_one():
    lines = table(40, Column("clients", ["1"]), Column("client\nCPU µs", ["37.2"]))
    assert lines == ["           client", "  clients  CPU µs", "        1    37.2"]


def test_what_does_not_fit_is_dropped_whole_and_named():
    columns = [Column("a", ["x" * 6]), Column("b\nof c", ["x" * 6], drop=1), Column("d", ["x" * 6], drop=2)]
    assert "Too narrow" not in "".join(table(24, *columns))
    assert table(23, *columns)[-1] == "  Too narrow for: d."
    assert " ".join(" ".join(table(15, *columns)).split()) == "b a of c xxxxxx xxxxxx Too narrow for: d."
    assert " ".join(" ".join(table(9, *columns)).split()) == "a xxxxxx Too narrow for: b of c, d."
    assert keep(columns, 14) == columns[:2] and keep(columns, 13) == columns[:1]


def test_long_names_stand_above_their_rows_once():
    names = Column("system", [LONG, LONG, "redis"], left=True)
    others = [Column("crash", ["kill", "power", "kill"], left=True), Column("acknow-\nledged", ["24,624", "1", "7"])]
    for width, count in ((120, 2), (70, 1)):
        lines = table(width, names, *others)
        assert sum(LONG in line for line in lines) == count and max(map(len, lines)) <= width
        ends = [line for line in lines if " kill " in line or " power " in line]
        assert len(ends) == 3 and len({len(line) for line in ends}) == 1


def test_a_table_without_room_is_a_list():
    columns = [Column("system", ["redis"]), Column("un-\nfinished", ["12"]), Column("waited for most", [LOCK])]
    assert table(60, *columns) == ["  redis", "    unfinished: 12", "    waited for most:", f"      {LOCK}"]


def test_sentences_go_on_in_their_own_column():
    lines = table(
        44, Column("", ["game"], left=True), Column("", ["one request of a small game"], prose=True, left=True)
    )
    assert lines == ["  game  one request of a small game"]
    lines = table(
        34, Column("", ["game"], left=True), Column("", ["one request of a small game"], prose=True, left=True)
    )
    assert lines == ["  game  one request of a small", "        game"]


def test_an_empty_table_is_none():
    assert table(80, Column("a", [])) == [] == table(80)


def test_rows_have_their_style_and_names_theirs():
    console = Console(file=io.StringIO(), width=40, color_system="standard", force_terminal=True)
    columns = [Column("a", ["x", "y"], left=True, style="bold"), Column("b", ["1", "2"])]
    print_columns(columns, console, styles=["", "red"])
    _, plain, marked = console.file.getvalue().splitlines()
    assert "\x1b[1mx" in plain and "\x1b[31m" not in plain and "31m" in marked


@pytest.mark.parametrize("width", [10, 20, 33])
def test_no_word_is_cut(width):
    text = f"of these {LOCK} was waited for most-often"
    lines = printed(width, lambda console: say(console, text, indent=2, hang=2)).splitlines()
    assert " ".join(lines).split() == text.split()
    assert all(len(line) <= width or " " not in line.strip() for line in lines)
    assert lines[0].startswith("  of") and lines[1].startswith("    ")


def test_styles_and_tabs_go_on_in_the_next_line():
    console = Console(file=io.StringIO(), width=12, color_system="standard", force_terminal=True)
    say(console, Text("a\tb ").append("of a title", "bold").append("  and more"), hang=2)
    assert [Text.from_ansi(line).plain.split() for line in console.file.getvalue().splitlines()] == [
        ["a", "b", "of", "a"],
        ["title", "and"],
        ["more"],
    ]
    assert console.file.getvalue().count("\x1b[1m") == 2


def test_lines_that_fit_stay_as_they_are():
    assert wrapped("a  b\nc", 10) == ["a  b", "c"]
    assert wrapped("", 10) == [""]


def test_what_looks_like_mark_up_is_none():
    assert printed(40, lambda console: say(console, "[red]not red[/red] [/]")) == "[red]not red[/red] [/]\n"
    assert printed(40, lambda console: heading(console, "[b]")) == "\n[b]\n"


COMMAND = "dbdyno run game --system 'mariadb?sql_mode=a b' --clients 1,4,16 --confirm-limit --seconds 20 --repeat 5"


def test_a_command_of_several_lines_is_one_to_a_shell():
    lines = list(command_lines(COMMAND, 40))
    assert len(lines) > 2 and max(map(len, lines)) <= 40
    assert shlex.split("\n".join(lines).replace(" \\\n", " ")) == shlex.split(COMMAND)
    assert not [line for line in lines if line.removesuffix(" \\").endswith(("--system", "--clients", "--seconds"))]


def test_a_command_that_fits_or_that_no_shell_takes_stays_as_it_is():
    assert list(command_lines(COMMAND, 200)) == [COMMAND]
    assert list(command_lines("it's torn", 5)) == ["it's torn"]


def test_the_lines_of_a_command_stand_below_each_other():
    console = Console(file=io.StringIO(), width=50, color_system=None)
    print_command(COMMAND, console, "  next   ")
    first, *others = console.file.getvalue().splitlines()
    assert first.startswith("  next   dbdyno run") and others
    assert all(line.startswith(" " * 9 + "--") and len(line) <= 50 for line in others)
