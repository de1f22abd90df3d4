"""Files that are loaded: generated in batches, or a person's own, checked line by line."""

import zipfile
from pathlib import Path

import pytest

from dbdyno.analytics import files
from dbdyno.analytics.columns import EARLIER_NAMES
from dbdyno.analytics.files import checked, generated, own_files, unpacked_bytes
from dbdyno.analytics.flights import write_file
from dbdyno.analytics.months import Month, plan_months
from dbdyno.errors import UserError


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Return a folder with one file of 20 flights."""
    folder = tmp_path / "own"
    folder.mkdir()
    write_file(folder / "2009-07.csv", 1, [Month(2009, 7, 20)])
    return folder


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


def spoil(folder: Path, line: int, old: str, new: str) -> None:
    path = folder / "2009-07.csv"
    lines = path.read_text().splitlines()
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    path.write_text("\n".join(lines) + "\n")


def load(folder: Path, scratch: Path, skip: bool = False) -> tuple[list[int], list[str]]:
    complaints: list[str] = []
    return [
        count for batch in checked(own_files(folder), scratch, skip, complaints.append) for _, count in batch
    ], complaints


def test_generated_files_hold_all_rows_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "FILE_ROWS", 30)
    monkeypatch.setattr(files, "BATCH_ROWS", 100)
    batches = list(generated(plan_months(500, (1990, 12)), 1, tmp_path))
    assert len(batches) > 2
    for path, count in (file for batch in batches for file in batch):
        assert len(path.read_text().splitlines()) == count + 1
    assert sum(count for batch in batches for _, count in batch) == 500


def test_good_files_are_taken_as_they_are(own, scratch):
    assert load(own, scratch) == ([20], [])


def test_zipped_files_are_unpacked(own, scratch):
    with zipfile.ZipFile(own / "2009-07.zip", "w") as archive:
        archive.write(own / "2009-07.csv", "flights.csv")
        archive.writestr("readme.html", "no flights")
    (own / "2009-07.csv").unlink()
    assert load(own, scratch) == ([20], [])


def test_how_large_files_are_is_known_before_they_are_unpacked(own):
    text = (own / "2009-07.csv").read_bytes()
    with zipfile.ZipFile(own / "2009-08.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("2009-08.csv", text * 3)
        archive.writestr("readme.html", text)
    (own / "2009-09.zip").write_text("no archive")
    assert unpacked_bytes(own_files(own)) == 4 * len(text)


def test_names_of_earlier_files_are_known(own, scratch):
    for earlier, now in EARLIER_NAMES.items():
        spoil(own, 1, f'"{now}"', f'"{earlier}"')
    assert load(own, scratch) == ([20], [])


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("2009,3,", "2009,", "109 fields instead of 109 and a comma"),
        ("2009,3,", "2009,three,", "Quarter is 'three', which is not a number"),
        ("2009-07-", "2009-77-", "which is not a date"),
        ('"AA"', '"AA', "a quote is not closed"),
    ],
)
def test_a_malformed_line_is_named_or_left_out_as_asked(own, scratch, old, new, problem):
    spoil(own, 5, old, new)
    with pytest.raises(UserError) as refused:
        load(own, scratch)
    assert "2009-07.csv, line 5: " in str(refused.value)
    assert problem in str(refused.value)
    for left in scratch.iterdir():
        left.unlink()
    counts, complaints = load(own, scratch, skip=True)
    assert counts == [19]
    assert len(complaints) == 1 and "line 5" in complaints[0]
    # A person's own files stay as they are.
    assert len((own / "2009-07.csv").read_text().splitlines()) == 21


def test_another_layout_is_refused(own, scratch):
    spoil(own, 1, '"Quarter"', '"Quartal"')
    with pytest.raises(UserError, match=r"line 1: column 2 is 'Quartal' and should be 'Quarter'"):
        load(own, scratch)


def test_a_folder_without_files_is_refused(tmp_path, scratch):
    with pytest.raises(UserError, match=r"no \.csv or \.zip"):
        own_files(scratch)
    with pytest.raises(UserError, match="no such folder"):
        own_files(tmp_path / "nowhere")


def test_what_is_no_archive_is_refused(scratch, tmp_path):
    (tmp_path / "a.zip").write_text("no archive")
    with pytest.raises(UserError, match="cannot be read"):
        load(tmp_path, scratch)
