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


def test_each_system_has_one_look_of_its_own(run_document):
    series = series_of(run_document)
    assert len({(system.colour, system.look.symbol, system.look.dash) for system in series}) == len(series) == 6


def test_operations_come_reads_first(run_document):
    assert list(operations(series_of(run_document))) == ["read_player", "find_account", "update_player"]


def test_what_may_read_or_write_comes_last(run_document):
    made = {name: {"operation": name} for name in ("begin", "sql", "update", "get-many", "get-elsewhere")}
    (series, *_) = series_of(dict(run_document, trials=[dict(run_document["trials"][0], operations=made)]))
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
    assert [system.name for system in series] == ["mariadb", "mariadb, 1,000 µs away"]


def test_what_is_pipelined_is_a_series_of_its_own(limited):
    first, second = limited["trials"]
    series = series_of(dict(limited, trials=[first, dict(second, pipeline=16)]))
    assert [system.name for system in series] == ["mariadb", "mariadb, pipeline 16"]


def test_loads_have_places_and_names(opened):
    series = series_of(opened)
    assert list(places_of(series).values()) == [0, 1, 2, 3]
    assert next(iter(load_labels(series).values())) == "2,000/s, 4 clients"
    assert len(trials_of(series)) == len(opened["trials"])


def test_configurations_of_a_store_have_shades_of_its_hue_in_every_report(run_document, limited):
    of_all = {system.label: system.look.hue for system in series_of(run_document)}
    versioned = [dict(limited["trials"][0], label=f"{n}", system=f"mariadb@{n}") for n in range(3)]
    versions = series_of(dict(limited, trials=versioned))
    assert {system.look.hue for system in versions} == {of_all["mariadb"]}
    assert len({system.colour for system in versions}) == 3
