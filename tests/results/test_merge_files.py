"""Files of several load clients are merged as their records are, in one process or several."""

import json
import re
import warnings

import pytest

from dbdyno.errors import UserError
from dbdyno.results import merge_files as merge_files_module
from dbdyno.results.merge import merge_records
from dbdyno.results.merge_files import merge_files
from results.test_merge import changes, part


def files_of(parts, folder):
    files = [folder / f"{number}.jsonl" for number in range(len(parts))]
    for file, records in zip(files, parts, strict=True):
        file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return files


@pytest.mark.parametrize("above_bytes", [1 << 30, 0])
def test_they_are_merged_as_records_are(tmp_path, monkeypatch, above_bytes):
    monkeypatch.setattr(merge_files_module, "PARALLEL_ABOVE_BYTES", above_bytes)
    monkeypatch.setattr(merge_files_module.os, "sched_getaffinity", lambda pid: {0, 1})
    gaps = [[[100_000_000 * host, 500_000_000]] for host in range(5)]
    parts = [[*part(host, [5, 7 * host], gaps_ns=gaps[host])[:-1], changes(1)] for host in range(5)]
    parts = [[*records, {"record": "end", "status": "complete", "reason": None}] for records in parts]
    offsets_s = [float(host) for host in range(5)]
    merged = list(merge_files(files_of(parts, tmp_path), offsets_s, tmp_path))
    assert merged == list(merge_records(parts, offsets_s))
    assert len(list(tmp_path.iterdir())) == len(parts)


@pytest.mark.parametrize("listed", ["5 1", "5, 1,", "5,, 1", ", 5", "5 , 1 2"])
def test_what_is_no_list_of_numbers_is_not_json(tmp_path, listed):
    parts = [part(0.0, [5])] * 2
    files = files_of(parts, tmp_path)
    text = files[1].read_text()
    assert '"buckets": [' in text
    files[1].write_text(re.sub(r'"buckets": \[[^]]+\]', f'"buckets": [{listed}]', text, count=1))
    with warnings.catch_warnings(), pytest.raises(UserError, match=r"1.jsonl, line \d+: is not JSON"):
        warnings.simplefilter("ignore", DeprecationWarning)
        list(merge_files(files, [0.0] * 2, tmp_path))


@pytest.mark.parametrize("listed", ["5", "99999, 1", "5, 1, 6"])
def test_buckets_that_there_are_not_are_refused(tmp_path, listed):
    files = files_of([part(0.0, [5])], tmp_path)
    files[0].write_text(re.sub(r'"buckets": \[[^]]+\]', f'"buckets": [{listed}]', files[0].read_text(), count=1))
    with pytest.raises(ValueError, match="a bucket that there is not"):
        list(merge_files(files, [0.0], tmp_path))


def test_parts_of_two_trials_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(merge_files_module, "PARALLEL_ABOVE_BYTES", 0)
    other = [{**part(0.0, [5])[0], "version": "2"}, *part(0.0, [5])[1:]]
    parts = [part(0.0, [5])] * 3 + [other]
    with pytest.raises(ValueError, match="differ in version"):
        list(merge_files(files_of(parts, tmp_path), [0.0] * 4, tmp_path))
    assert len(list(tmp_path.iterdir())) == len(parts)
