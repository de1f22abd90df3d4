"""Files that are not what they should be are named, with the line."""

import pytest

from dbdyno.errors import UserError
from dbdyno.results.jsonfiles import read_lines, read_object


@pytest.mark.parametrize(("text", "said"), [("[1]", "JSON object"), ("{", "is not JSON"), ("", "is not JSON")])
def test_an_object_is_an_object(tmp_path, text, said):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(UserError, match=f"a.json: .*{said}"):
        read_object(tmp_path / "a.json")


@pytest.mark.parametrize(("number", "said"), [("1e400", "infinity"), ("-" + "9" * 23, "one of more than 20 digits")])
def test_a_number_that_no_counter_has_is_refused(tmp_path, number, said):
    file = tmp_path / "a.json"
    file.write_text(f'{{"a": [{{"b": {number}}}]}}')
    with pytest.raises(UserError, match=f"a.json: holds a number that dbdyno never writes: {said}"):
        read_object(file)
    file.write_text(f'{{"a": [true, null, {2**64 - 1}]}}')
    assert read_object(file) == {"a": [True, None, 2**64 - 1]}


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(UserError, match="cannot be read"):
        read_object(tmp_path / "none.json")
    with pytest.raises(UserError, match="cannot be read"):
        list(read_lines(tmp_path))


def test_only_a_last_line_without_its_newline_may_be_broken(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a":1}\n{"a":2}\n{"a":')
    assert list(read_lines(path)) == [(1, {"a": 1}), (2, {"a": 2})]
    path.write_text('{"a":1}\n{"a":\n')
    with pytest.raises(UserError, match=r"a\.jsonl, line 2"):
        list(read_lines(path))
    path.write_text("3\n")
    with pytest.raises(UserError, match="line 1: is not a JSON object"):
        list(read_lines(path))


def test_a_line_cut_within_a_character_is_ignored(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"a":"µ'.encode()[:-1])
    assert list(read_lines(path)) == []
