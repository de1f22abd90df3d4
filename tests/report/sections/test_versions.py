"""Versions of a product, relative to the first."""

from dataclasses import replace

import pytest

from dbdyno.report.core.page import Page
from dbdyno.report.document import document
from dbdyno.report.html import clients_loaded
from dbdyno.report.sections.versions import part, sweeps_of
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run

VERSIONS = [
    replace(SYSTEMS[2], system=f"mysql@{version}", label=f"mysql@{version}", base_us=base_us)
    for version, base_us in (("5.5", 900), ("5.6", 900), ("8.0", 1800))
]


def page_of(folder, systems, **keys):
    run_document = document(read_run(write_run(folder, systems, **keys)))
    return Page(run_document, clients_loaded=clients_loaded(run_document))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return page_of(tmp_path_factory.mktemp("run") / "run", VERSIONS, clients=(1, 4), repeats=3, seconds=3)


def test_each_load_has_the_ratio_of_each_version_with_its_interval(page):
    (sweep,) = sweeps_of(page.series)
    assert sweep.name == "mysql on game" and len(sweep.loads) == 2
    first, other = (sweep.ratios[index, sweep.loads[0]] for index in (1, 2))
    assert first.low <= 1.0 <= first.high
    assert other.ratio == pytest.approx(900 / 1800, rel=0.15) and other.low < other.ratio < other.high < 0.8


def test_there_is_one_table_and_one_plot(page):
    content = part(page)
    (table,) = content.content["tables"]
    assert table["headings"] == ["load", "mysql@5.5", "mysql@5.6", "mysql@8.0"]
    assert [row[:2] for row in table["rows"]] == [["1", "1"], ["4", "1"]]
    assert all("[" in cell for row in table["rows"] for cell in row[2:])
    plot = content.figures["versions-0"]
    assert len(plot["data"]) == 2 and plot["data"][0]["y"][0] == 1.0
    assert plot["layout"]["xaxis"]["categoryarray"] == table["headings"][1:]


def test_two_versions_and_different_products_are_no_sweep(tmp_path):
    assert part(page_of(tmp_path / "two", VERSIONS[:2], clients=(1,), seconds=2)) is None
    assert part(page_of(tmp_path / "products", SYSTEMS[:3], clients=(1,), seconds=2)) is None


def test_one_trial_has_no_interval_and_a_version_without_a_complete_one_has_a_dash(tmp_path):
    faults = {("mysql@5.6", 1): "killed"}
    page = page_of(tmp_path / "run", VERSIONS, clients=(1,), seconds=2, faults=faults)
    ((_, first, missing, other),) = part(page).content["tables"][0]["rows"]
    assert (first, missing) == ("1", "–") and "[" not in other
