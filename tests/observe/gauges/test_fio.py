"""fio's own times become the same figures, and what it cannot do is said in its words."""

import os

import pytest

from dbdyno.observe.gauges import fio
from dbdyno.observe.gauges.fio import is_installed, measure_by_fio

LOG = "0, 2000, 0, 4096, 0\\n0, 4000, 0, 4096, 0\\n300, 9000, 0, 4096, 0\\n"
SLOTS = {"slot_s": 0.1, "slots": [3.0, None, 9.0], "worst": [4.0, None, 9.0]}
FIGURES = {"count": 3, "p50": 4.0, "p99": 8.9, "max": 9.0} | SLOTS


@pytest.fixture
def fake_fio(tmp_path, monkeypatch):
    def make(script):
        (tmp_path / "fio").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "fio").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    return make


def test_its_figures_are_read(fake_fio, tmp_path):
    fake_fio(f"echo 'note: a clock'; printf '{LOG}' > times_clat.1.log")
    assert is_installed()
    assert measure_by_fio(tmp_path, 1) == {"by": "fio", "direct": True, "read_us": FIGURES, "flush_us": FIGURES}
    assert [path.name for path in tmp_path.iterdir()] == ["fio"]


def test_what_it_cannot_do_is_in_its_own_words(fake_fio, tmp_path):
    fake_fio("echo 'fio: destination does not support O_DIRECT' >&2; exit 1")
    with pytest.raises(OSError, match="does not support O_DIRECT"):
        measure_by_fio(tmp_path, 1)


def test_the_real_one_answers_so(tmp_path, monkeypatch):
    if not is_installed():
        pytest.skip("fio is not installed: apt install fio")
    monkeypatch.setattr(fio, "FILE_BYTES", 1 << 20)
    try:
        measured = measure_by_fio(tmp_path, 1)
    except OSError as error:
        pytest.skip(f"no O_DIRECT here: {error}")
    assert measured["read_us"]["p50"] > 0 and measured["flush_us"]["count"] > 0
    assert any(measured["read_us"]["slots"]) and any(measured["flush_us"]["slots"])
