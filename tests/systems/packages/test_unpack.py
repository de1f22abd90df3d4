"""Archives, and archives in archives."""

from dbdyno.systems.packages.package import Part
from dbdyno.systems.packages.unpack import unpack
from systems.packages.conftest import PROGRAM, inner_archive


def test_links_that_lead_out_are_left_out(tmp_path):
    archive = tmp_path / "a.tgz"
    archive.write_bytes(inner_archive("/opt/elsewhere", "../../outside"))
    unpack(archive, (Part("bin/littled", "in"), Part("", "all")), tmp_path / "out")
    assert (tmp_path / "out" / "in" / "littled").read_bytes() == PROGRAM
    assert sorted(path.name for path in (tmp_path / "out" / "all").rglob("*")) == ["bin", "littled"]
