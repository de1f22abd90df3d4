"""Only whole lines are read, each once."""

import pytest

from dbdyno.errors import UserError
from dbdyno.serve.tail import Tail


def test_each_line_is_read_once_and_a_half_one_later(tmp_path):
    file = tmp_path / "records.jsonl"
    tail = Tail(file)
    assert tail.read() == []
    file.write_text('{"a": 1}\n{"a": 2')
    assert tail.read() == [{"a": 1}]
    assert tail.read() == []
    with file.open("a") as more:
        more.write('}\n{"a": 3}\n')
    assert tail.read() == [{"a": 2}, {"a": 3}]


def test_a_file_that_is_removed_has_nothing_new(tmp_path):
    file = tmp_path / "observations.jsonl"
    file.write_text('{"a": 1}\n')
    tail = Tail(file)
    file.unlink()
    assert tail.read() == []


@pytest.mark.parametrize(("line", "says"), [("{", "is not JSON"), ("[1]", "is not a JSON object")])
def test_a_line_of_something_else_is_named(tmp_path, line, says):
    file = tmp_path / "records.jsonl"
    file.write_text(f"{line}\n")
    with pytest.raises(UserError, match=says):
        Tail(file).read()


def test_a_folder_in_its_place_is_named(tmp_path):
    with pytest.raises(UserError, match="cannot be read"):
        Tail(tmp_path).read()
