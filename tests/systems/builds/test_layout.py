"""How a build is named by its path."""

import re

from dbdyno.systems.builds.layout import Layout, beside

WHOLE = Layout(
    "basedir", {"server": ("bin/server", "sbin/server"), "tool": ("bin/tool",)}, re.compile("(?P<version>.)")
)
ONE = Layout("binary", beside("server"), re.compile("(?P<version>.)"))


def test_the_server_is_the_first_of_its_programs():
    assert (WHOLE.server, ONE.server) == ("server", "server")


def test_only_a_binary_is_one_program_and_only_a_basedir_is_the_whole_build():
    layouts = (WHOLE, ONE, Layout("bindir", beside("server"), re.compile("(?P<version>.)")))
    assert [(layout.is_whole, layout.is_one_program) for layout in layouts] == [
        (True, False),
        (False, True),
        (False, False),
    ]


def test_places_are_looked_at_in_their_order(tmp_path):
    for name in ("sbin", "bin"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "server").touch()
    assert list(WHOLE.places(tmp_path, "server")) == [tmp_path / "bin/server", tmp_path / "sbin/server"]


def test_what_says_which_build_it_is_does_not_go_to_the_server():
    assert WHOLE.settings == {"basedir", "config"}
