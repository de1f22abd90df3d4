"""A kept data directory is there until it is removed, and says whether a copy of it fits."""

from dbdyno.systems.running.kept_data import KeptData


def test_there_is_room_if_the_disk_has_more_than_the_data(tmp_path, monkeypatch):
    (tmp_path / "data").write_bytes(bytes(1 << 20))
    assert KeptData(tmp_path).has_room()
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 1 << 20}))
    assert not KeptData(tmp_path).has_room()


def test_what_is_removed_is_not_there(tmp_path):
    (tmp_path / "kept" / "data").mkdir(parents=True)
    kept = KeptData(tmp_path / "kept")
    assert kept.is_there()
    kept.remove()
    assert not kept.is_there() and not list(tmp_path.iterdir())
