"""The C library that is loaded, by lists of files in a process's memory."""

import pytest

from dbdyno.experiment.clients import LIBRARIES
from dbdyno.load_python.failure import Ended
from dbdyno.load_python.shared_library import NAMES, refuse_another

LINE = "7f2a1c000000-7f2a1c021000 r-xp 00000000 fe:00 1234   {}\n"
CHOSEN = "/opt/pgsql/lib/libpq.so.5"


@pytest.fixture
def maps(tmp_path):
    """Return a function that writes such a list."""

    def write(*files):
        path = tmp_path / "maps"
        path.write_text("7ffd2000-7ffd3000 rw-p 00000000 00:00 0 [stack]\n" + "".join(map(LINE.format, files)))
        return path

    return write


def test_the_chosen_one_alone_is_accepted(maps):
    refuse_another("psycopg", CHOSEN, maps(CHOSEN, CHOSEN, "/usr/lib/libmariadb.so.3"))


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ((CHOSEN, "/usr/lib/libpq.so.5"), "psycopg loads /usr/lib/libpq.so.5 and not /opt/pgsql/lib/libpq.so.5"),
        (("/usr/lib/libpq.so.5",), "psycopg loads /usr/lib/libpq.so.5 and not"),
        (("/usr/lib/libc.so.6",), "/opt/pgsql/lib/libpq.so.5 cannot be loaded: run `ldd /opt"),
    ],
)
def test_another_one_is_refused(maps, files, said):
    with pytest.raises(Ended, match=said):
        refuse_another("psycopg", CHOSEN, maps(*files))


def test_only_libraries_over_a_c_library_have_one_to_choose():
    assert {name for name, library in LIBRARIES.items() if library.c_library} == {*NAMES}
    with pytest.raises(Ended, match="pymysql has no C library to choose"):
        refuse_another("pymysql", CHOSEN)
