"""The actions of package clients are passed on, and their refusals are said."""

from dataclasses import replace

import pytest

from dbdyno.errors import RunFailed, UserError
from dbdyno.systems.packages.download import download, run_client, sum_of


def test_a_file_that_is_there_is_not_got_again(package, tmp_path):
    first = download(package, tmp_path / "d", lambda _: None)
    assert sum_of(first) == package.sha256
    gone = replace(package, coordinates=str(tmp_path / "nowhere.whl"))
    assert download(gone, tmp_path / "d", lambda _: None) == first


def test_what_a_client_could_not_do_is_said_in_its_words(package, tmp_path):
    gone = replace(package, coordinates=str(tmp_path / "nowhere.whl"))
    with pytest.raises(RunFailed, match=r"pip could not get .*nowhere.whl: .+"):
        download(gone, tmp_path / "d", lambda _: None)


@pytest.mark.parametrize(
    ("log", "why"),
    [
        ("npm error code ECONNREFUSED\nnpm error a\nnpm error b\nnpm error A complete log", "code ECONNREFUSED"),
        ("[ERROR] Failed to execute\n[ERROR] x\n[ERROR] y\n[ERROR] [Help 1] http://x", "Failed to execute"),
        ("go: downloading github.com/pkg/errors v1\nmain.go:3: dial tcp: refused\n", "dial tcp: refused"),
        ("", "it said nothing"),
    ],
)
def test_the_cause_is_said_and_the_registry(package, tmp_path, log, why):
    command = ["sh", "-c", f"printf '%s' '{log}'; exit 1"]
    with pytest.raises(RunFailed, match=rf"could not get .*{why}.*\. Can it reach its registry from here\?$") as caught:
        run_client(package, tmp_path, command, lambda _: None)
    assert "Help" not in str(caught.value) and "complete log" not in str(caught.value)


def test_a_client_that_is_missing_is_named_with_its_package(package, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="is downloaded by mvn, which is not installed: apt install maven"):
        download(replace(package, client="mvn"), tmp_path / "d", lambda _: None)
