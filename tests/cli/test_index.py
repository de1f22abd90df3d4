"""One page over the runs in a folder."""

from pathlib import Path


def test_the_index_is_written_and_named(finished):
    status, out, err = finished("index")
    assert (status, out, err) == (0, "runs/index.html\n", "")
    assert "1 run, " in Path(out.strip()).read_text()


def test_a_folder_of_nothing_is_refused(dbdyno, tmp_path):
    status, _, err = dbdyno("index", str(tmp_path))
    assert status == 2 and "holds no run" in err
