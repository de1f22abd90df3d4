"""The card in the terminal fits, and names every version once."""

import io

from rich.console import Console

from dbdyno.report.sections.fairness import print_card, versions


def test_every_version_is_there_once_the_programs_last():
    systems = [{"card": {"versions": f"{server}, dbdyno-load 1, dbdyno 2"}} for server in ("a 3", "b 4", "a 3")]
    assert versions(systems) == "a 3, b 4, dbdyno-load 1, dbdyno 2"
    assert versions([{"card": {}}]) == ""


def test_the_card_in_short_fits():
    console = Console(file=io.StringIO(), width=60, color_system=None)
    system = {"card": {"versions": "redis 7.0.15, dbdyno-load 0.1.0, dbdyno 0.1.0"}}
    print_card({"short": ["default settings · data smaller than the cache · hot"], "systems": [system]}, console)
    text = console.file.getvalue()
    assert max(map(len, text.splitlines())) <= 60
    assert text.index("· default settings") < text.index("· versions: redis 7.0.15")
