"""A setting is drawn if trials differ in it alone, its values by size."""

import pytest

from dbdyno.report.core.page import Page
from dbdyno.report.core.series import series_of
from dbdyno.report.document import document
from dbdyno.report.sections.against_setting import figures, part, rising, varied
from dbdyno.results.read import read_run
from synthetic_run import System, write_run


@pytest.fixture(scope="module")
def pools(tmp_path_factory):
    """One store with a pool of three sizes, the largest first, and another store."""
    systems = [
        System("store", "D2", "", 900, peak, (("server", "1"),), (("pool", size),), f"store pool={size}")
        for size, peak in (("1G", 9000), ("16M", 3000), ("256M", 6000))
    ]
    other = System("other", "D2", "", 900, 5000, (("server", "1"),))
    run = write_run(tmp_path_factory.mktemp("runs") / "pools", (*systems, other), clients=(1, 4), seconds=12)
    return document(read_run(run))


def test_a_line_joins_trials_that_differ_in_one_setting(pools):
    settings = varied(series_of(pools))
    assert list(settings) == ["pool"]
    (line,) = settings["pool"]
    assert line.name == "store" and len(line.trials) == 6


def test_each_load_has_its_own_line_and_values_rise(pools):
    drawn = figures(series_of(pools))
    assert {*drawn} == {f"setting-0-{what}" for what in ("throughput", "p50", "p95", "p99", "p999")}
    few, many = drawn["setting-0-throughput"]["data"]
    assert few["x"] == ["16M", "256M", "1G"] == drawn["setting-0-p99"]["layout"]["xaxis"]["categoryarray"]
    assert few["meta"]["c"] == 0 and many["meta"]["c"] == 1
    assert many["y"] == sorted(many["y"]) and many["mode"] == "lines+markers"


def test_words_are_joined_by_no_line(pools):
    named = {"1G": "fast", "16M": "slow", "256M": "safe"}
    trials = [
        dict(trial, settings={"pool": named.get((trial["settings"] or {}).get("pool"))}) for trial in pools["trials"]
    ]
    drawn = figures(series_of(dict(pools, trials=[trial for trial in trials if trial["label"] != "other"])))
    assert {trace["mode"] for trace in drawn["setting-0-p50"]["data"]} == {"markers"}


def test_without_a_varied_setting_there_is_no_section(pools):
    same_pool = dict(pools, trials=[trial for trial in pools["trials"] if trial["label"] == "store pool=1G"])
    assert part(Page(same_pool)) is None and part(Page(pools, clients_loaded=False)) is None
    assert part(Page(pools)).content["settings"] == ["pool"]


def test_an_option_of_the_workload_is_a_setting_too(pools):
    trials = [
        dict(trial, label="store", settings={}, workload=f"insert?indexes={number}")
        for number, trial in enumerate(trial for trial in pools["trials"] if trial["clients"] == 4)
    ]
    (line,) = varied(series_of(dict(pools, trials=trials[:3])))["indexes"]
    assert line.name == "store · insert" and sorted(value for value, _ in line.trials) == ["0", "1", "2"]


def test_two_workloads_are_two_lines(pools):
    trials = [dict(trial, workload=name) for name in ("reads", "writes?set=all") for trial in pools["trials"]]
    settings = varied(series_of(dict(pools, trials=trials)))
    assert [line.name for line in settings["pool"]] == ["store · reads", "store · writes?set=all"]


def test_values_rise_by_size_and_words_come_last():
    assert rising(["1G", "64M", "fast", "512", "64M", "2k"]) == ["512", "2k", "64M", "1G", "fast"]


def of_variant(pools, **variants):
    """The trials of the store, in each of its three sizes with the next value of each key of a variant."""
    trials = [trial for trial in pools["trials"] if trial["label"] != "other"]
    changed = []
    for number, trial in enumerate(trials):
        variant = {key.replace("_", " "): values[number // 2] for key, values in variants.items()}
        label = ", ".join(["store", *(f"{key} {value}" for key, value in variant.items())])
        changed.append(dict(trial, label=label, settings={}, variant=variant))
    return series_of(dict(pools, trials=changed))


def test_a_key_of_the_experiment_is_a_setting_and_not_in_the_lines_name(pools):
    series = of_variant(pools, load_threads=("1", "2", "4"))
    (line,) = varied(series)["load threads"]
    assert line.name == "store" and sorted(value for value, _ in line.trials) == ["1", "1", "2", "2", "4", "4"]


def test_keys_that_change_together_have_a_plot_each(pools):
    settings = varied(of_variant(pools, load_threads=("1", "2", "4"), data_dir=("/a", "/b", "/c")))
    assert {name: [line.name for line in lines] for name, lines in settings.items()} == {
        "load threads": ["store"],
        "data dir": ["store"],
    }


def test_a_key_that_stays_keeps_its_name_in_the_line(pools):
    settings = varied(of_variant(pools, load_threads=("1", "2", "4"), restart=("cold", "cold", "cold")))
    assert [line.name for line in settings["load threads"]] == ["store, restart cold"] and len(settings) == 1
