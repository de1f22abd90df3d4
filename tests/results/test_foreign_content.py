"""Every consequence of a wrong figure is reported as that, with the folder it is from."""

from pathlib import Path

import pytest

from dbdyno.errors import RunFailed, UserError
from dbdyno.results.foreign_content import understood


@pytest.mark.parametrize(
    "wrong", ["1/0", "None.x", "{}['a']", "int('x')", "1 + 'a'", "int(float('inf'))", "'a'*10**18"]
)
def test_it_is_told_with_its_folder_and_place(wrong):
    with (
        pytest.raises(UserError, match=r"^a, b: cannot be understood: .*<string>:1\)$"),
        understood(Path("a"), Path("b")),
    ):
        eval(wrong)


def test_what_was_told_already_is_left_as_it_is():
    with pytest.raises(RunFailed, match=r"^told$"), understood(Path("a")):
        raise RunFailed("told")
    with pytest.raises(FileNotFoundError), understood(Path("a")):
        raise FileNotFoundError
