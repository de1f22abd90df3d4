"""Each system has one look, whatever plot it is in; of repetitions one stands for all."""

from dbdyno.report.core.series import (
    load_labels,
    operations,
    places_of,
    representatives,
    series_of,
    trials_of,
)
from dbdyno.report.document import document


def test_each_system_has_one_look_of_its_own(shown):
    series = series_of(shown)
    assert len({(one.colour, one.look.symbol, one.look.dash) for one in series}) == len(series) == 6


def test_operations_come_reads_first(shown):
    assert list(operations(series_of(shown))) == ["read_player", "find_account", "update_player"]


def test_what_may_read_or_write_comes_last(shown):
    made = {name: {"operation": name} for name in ("begin", "sql", "update", "get-many", "get-elsewhere")}
    (series, *_) = series_of(dict(shown, trials=[dict(shown["trials"][0], operations=made)]))
    assert list(operations([series])) == ["get-many", "get-elsewhere", "update", "begin", "sql"]


def test_of_repetitions_the_median_stands_for_all(plain):
    (series,) = series_of(document(plain))
    chosen = representatives(series)
    assert [load.clients for load in chosen] == [1, 2]
    rates = sorted(trial["throughput_per_s"] for trial in series.trials if trial["clients"] == 1)
    assert next(iter(chosen.values()))["throughput_per_s"] == rates[0]


def test_a_store_further_away_is_a_series_of_its_own(limited):
    first, second = limited["trials"][:2]
    series = series_of(dict(limited, trials=[first, dict(second, network_delay_us=1000)]))
    assert [one.name for one in series] == ["mariadb", "mariadb, 1,000 µs away"]


def test_what_is_pipelined_is_a_series_of_its_own(limited):
    first, second = limited["trials"]
    series = series_of(dict(limited, trials=[first, dict(second, pipeline=16)]))
    assert [one.name for one in series] == ["mariadb", "mariadb, pipeline 16"]


def test_loads_have_places_and_names(opened):
    series = series_of(opened)
    assert list(places_of(series).values()) == [0, 1, 2, 3]
    assert next(iter(load_labels(series).values())) == "2,000/s, 4 clients"
    assert len(trials_of(series)) == len(opened["trials"])


def test_configurations_of_a_store_have_shades_of_its_hue_in_every_report(shown, limited):
    of_all = {one.label: one.look.hue for one in series_of(shown)}
    told = [dict(limited["trials"][0], label=f"{n}", system=f"mariadb@{n}") for n in range(3)]
    versions = series_of(dict(limited, trials=told))
    assert {one.look.hue for one in versions} == {of_all["mariadb"]}
    assert len({one.colour for one in versions}) == 3
