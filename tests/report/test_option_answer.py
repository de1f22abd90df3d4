"""Variants of a workload are compared with the first of them on the same system."""

import json

import pytest

from dbdyno.report.answer import answer
from dbdyno.report.cells import sides_of_run
from dbdyno.report.document import document
from dbdyno.report.option_answer import by_option, compared_options
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run


def write_variants(folder, repeats=5):
    """Write a run of one system and two variants of a workload; the second has the figures of another system."""
    write_run(folder, SYSTEMS[:2], clients=(1, 4), seconds=3, repeats=repeats)
    about_run = json.loads((folder / "run.json").read_text())
    variants = {"workloads": ["game?indexes=0", "game?indexes=3"]}
    (folder / "run.json").write_text(json.dumps(about_run | variants))
    for path in sorted(folder.glob("trials/*/trial.json")):
        about = json.loads(path.read_text())
        variant = f"game?indexes={0 if about['label'] == 'sqlite' else 3}"
        path.write_text(json.dumps(about | {"label": "sqlite", "system": "sqlite", "workload": variant}))
    return folder


@pytest.fixture(scope="module")
def variants(tmp_path_factory):
    return read_run(write_variants(tmp_path_factory.mktemp("runs") / "variants"))


def test_each_variant_is_compared_with_the_first_at_each_load(variants):
    cells = compared_options(variants)["cells"]
    assert [(cell["workload"], cell["clients"], cell["pairs"]) for cell in cells] == [("game", 1, 5), ("game", 4, 5)]
    assert all(cell["baseline"]["variant"] == "indexes=0" for cell in cells)
    assert all(cell["candidate"]["variant"] == "indexes=3" for cell in cells)
    assert all(cell["verdict"] == "faster" and cell["low"] < cell["ratio"] < cell["high"] for cell in cells)
    assert document(variants)["option_comparison"]["cells"] == cells and document(variants)["comparison"] is None


def test_the_answer_has_each_variants_ratio_at_the_load_at_which_the_first_does_most(variants):
    comparison = compared_options(variants)
    ratio = comparison["cells"][1]["ratio"]
    (sentence,) = by_option(comparison)
    assert sentence.startswith(f"sqlite at 4 clients against indexes=0: indexes=3 {ratio:.2f}× [")
    assert [sentence] in answer(document(variants))


def test_a_ratio_that_may_be_chance_says_so(variants):
    comparison = compared_options(variants)
    doubtful = [cell | {"verdict": "inconclusive"} for cell in comparison["cells"]]
    assert by_option({**comparison, "cells": doubtful})[0].endswith(" (inconclusive).")
    assert by_option({**comparison, "cells": [cell | {"verdict": "invalid"} for cell in doubtful]}) == []


def test_a_run_of_one_system_is_compared_by_its_variants(variants):
    ((first, other),) = sides_of_run(variants, None)
    assert (first.name, other.name) == ("indexes=0", "indexes=3")
    assert len(first.trials) == len(other.trials) == 10


def test_of_many_systems_only_the_comparison_says_it(variants):
    comparison = compared_options(variants)
    cells = [cell | {"baseline": cell["baseline"] | {"label": name}} for name in "abcd" for cell in comparison["cells"]]
    assert by_option({**comparison, "cells": cells}) == []


def test_without_repeats_or_variants_there_is_nothing_to_compare(tmp_path):
    assert compared_options(read_run(write_variants(tmp_path / "once", repeats=1))) is None
    plain = read_run(write_run(tmp_path / "plain", SYSTEMS[:2], clients=(1,), seconds=2, repeats=2))
    assert compared_options(plain) is None and by_option(None) == []
