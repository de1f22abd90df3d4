"""Archives, and archives in archives."""

import tarfile

from dbdyno.systems.packages.package import Part
from dbdyno.systems.packages.unpack import unpack
from systems.packages.conftest import PROGRAM, inner_archive


def test_links_that_lead_out_are_left_out(tmp_path):
    archive = tmp_path / "a.tgz"
    archive.write_bytes(inner_archive("/opt/elsewhere", "../../outside"))
    unpack(archive, (Part("bin/littled", "in"), Part("", "all")), tmp_path / "out")
    assert (tmp_path / "out" / "in" / "littled").read_bytes() == PROGRAM
    assert sorted(path.name for path in (tmp_path / "out" / "all").rglob("*")) == ["bin", "littled"]


def test_paths_that_lead_out_and_devices_are_left_out_and_nobody_else_may_write(tmp_path):
    archive = tmp_path / "a.tar"
    with tarfile.open(archive, "w") as made:
        for name in ("../out", "/out", "in/file", "in/../../out"):
            member = tarfile.TarInfo(name)
            member.mode, member.uid = 0o4777, 4321
            made.addfile(member)
        device = tarfile.TarInfo("in/null")
        device.type = tarfile.CHRTYPE
        made.addfile(device)
    (tmp_path / "into").mkdir()
    unpack(archive, (Part(""),), tmp_path / "into" / "here")
    (there,) = [path for path in tmp_path.rglob("*") if path.is_file() and path != archive]
    assert there == tmp_path / "into" / "here" / "in" / "file"
    assert there.stat().st_mode & 0o7777 == 0o755 and there.stat().st_uid == archive.stat().st_uid
