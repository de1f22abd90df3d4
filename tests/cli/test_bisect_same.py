"""Two builds are the same if their programs and settings are, whatever their paths are."""

import shutil
import tempfile
from pathlib import Path

import pytest

from dbdyno.cli.bisect_same import refuse_same_build
from dbdyno.errors import UserError
from helpers import need

TITLES = ("v1 (faster)", "v2 (slower)")


@pytest.fixture
def copies():
    """Yield two copies of the host's memcached, which the user of servers gets to."""
    need("memcached")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        paths = [Path(folder) / name / "memcached" for name in ("one", "two")]
        for path in paths:
            path.parent.mkdir(0o755)
            shutil.copy2(shutil.which("memcached"), path)
        yield paths


def test_copies_of_a_program_are_the_same_build_also_as_parts(copies):
    first, second = copies
    said = r"v1 \(faster\) and v2 \(slower\) are the same build \(SHA-256: memcached [0-9a-f]{12}\); a --build command"
    with pytest.raises(UserError, match=said):
        refuse_same_build(f"memcached?binary={first}", f"memcached?binary={second}", TITLES)
    with pytest.raises(UserError, match="are the same build"):
        refuse_same_build(*(f"cache-aside(memcached?binary={path}, mariadb)" for path in copies), TITLES)


def test_another_program_setting_or_configuration_is_another_build(copies, tmp_path):
    first, second = copies
    config = tmp_path / "memcached.conf"
    config.write_text("-t 2\n")
    with second.open("ab") as program:
        program.write(b"more")
    same = f"memcached?binary={first}"
    for other in (f"memcached?binary={second}", f"{same}&threads=2", f"{same}&config={config}"):
        refuse_same_build(same, other, TITLES)


def test_a_system_without_a_path_is_compared_by_its_settings(fake_system):
    refuse_same_build("fake?build=1", "fake?build=2", TITLES)
    with pytest.raises(UserError, match=r"are the same build; a --build command must build the {commit}"):
        refuse_same_build("fake?build=1", "fake?build=1", TITLES)
