"""The answer of a run: who was fastest, and what makes that less than it seems."""

from dataclasses import replace

import pytest

from dbdyno.report.answer import answer
from dbdyno.report.document import document
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run

SQLITE, LMDB, MARIADB, CACHED, REDIS = SYSTEMS
ONCE = "One trial per cell names no winner: add --repeat 5."


def flat(run_document):
    """The sentences of all paragraphs."""
    return [sentence for paragraph in answer(run_document) for sentence in paragraph]


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """Return a function that writes a run and gives its answer."""

    def of(*systems, **options):
        folder = tmp_path_factory.mktemp("runs") / "run"
        return flat(document(read_run(write_run(folder, systems, **{"clients": (1, 8)} | options))))

    return of


def test_the_fastest_with_its_figure_and_where(answered):
    who, once = answered(SQLITE, LMDB)
    assert who.startswith("lmdb was fastest: ") and who.endswith("/s at 8 clients.") and once == ONCE


def test_one_system_has_what_limited_it(answered):
    (reached, once) = answered(MARIADB)
    assert reached.startswith("mariadb reached ") and reached.endswith("/s at 8 clients, limited by the network.")
    assert once == "One trial per cell has no confidence interval: add --repeat 5."


def test_a_weaker_promise_is_no_like_for_like(answered):
    who, class_, strongest, _ = answered(REDIS, MARIADB, CACHED)
    assert who.startswith("redis was fastest")
    assert class_ == ("redis alone does not flush commits (D0): no like-for-like ranking.")
    assert strongest.startswith("The fastest that flushes every commit (D2) was mariadb: ")
    assert strongest.endswith("/s at 8 clients.")


def test_of_several_with_the_same_promise_the_others_are_named(answered):
    (class_,) = (line for line in answered(SQLITE, LMDB, MARIADB) if "like-for-like" in line)
    assert class_.startswith("Like sqlite, lmdb does not flush every commit (D1): no like-for-like")


def test_who_promises_most_and_is_fastest_is_said_too(answered):
    assert answered(LMDB, REDIS)[1] == (
        "It also promises most: it does not flush every commit (D1). Weaker: D0: redis."
    )


def test_a_lower_bound_is_no_last_word(answered):
    who, doubt, *_ = answered(REDIS, MARIADB, faults={("mariadb", 8): "client-limited"})
    assert who.startswith("redis was fastest") and doubt == "mariadb may be faster (≥)."
    who, *others = answered(REDIS, MARIADB, faults={("redis", 8): "client-limited"})
    assert who.startswith("redis was fastest: at least ") and not any("may be faster" in line for line in others)


def test_repetitions_have_an_interval_and_no_advice(answered):
    who, reached = answered(SQLITE, LMDB, repeats=3)
    assert who.startswith("lmdb was fastest: ") and "× [" in who
    assert who.endswith(" the throughput of sqlite, the runner-up at 8 clients.")
    assert reached.startswith("lmdb reached ") and reached.endswith("/s.")


def test_too_few_repetitions_to_name_a_winner_are_said(answered):
    alike = replace(LMDB, label="lmdb again")
    who, *_, advice = answered(LMDB, alike, repeats=2)
    assert who.startswith("No winner: ") and advice == "2 repeats give a wide interval: add --repeat 5."
    assert not any("--repeat" in line for line in answered(SQLITE, LMDB, repeats=3))


def test_an_open_loop_has_the_lowest_p99_and_who_could_not_follow(answered):
    low, behind, *_ = answered(LMDB, MARIADB, clients=(8,), rates=(2000, 20_000), seconds=12)
    assert low.startswith("lmdb followed 20,000/s") or low.startswith("Lowest p99 at 20,000/s: lmdb, ")
    assert behind == "mariadb could not follow 20,000/s."


def test_an_open_loop_that_is_too_short_for_a_p99_has_an_answer(answered):
    assert answered(LMDB, clients=(8,), rates=(50,), seconds=2)[0] == (
        "lmdb followed 50/s, with too few transactions for a p99: give more --seconds."
    )


def test_a_rate_search_has_its_sentence_and_many_the_highest():
    searches = [{"sentence": f"{rate}/s it is.", "found_rate_per_s": rate} for rate in (100, 300, None, 200)]
    run_document = {"trials": [], "find_rate": searches[:2]}
    assert flat(run_document) == ["100/s it is.", "300/s it is."]
    assert flat(run_document | {"find_rate": searches}) == ["The highest rate of 4 searches: 300/s it is."]


def test_without_a_figure_the_headline_says_why(answered):
    assert answered(MARIADB, clients=(1,), faults={("mariadb", 1): "server-died"})[0].startswith("No trial was comp")


def test_each_of_a_few_workloads_has_its_own(answered, tmp_path):
    run_document = document(read_run(write_run(tmp_path / "run", (SQLITE, LMDB), clients=(1,))))
    other = [dict(trial, workload="point-get", trial=f"x{trial['trial']}") for trial in run_document["trials"]]
    said = flat(dict(run_document, trials=[*run_document["trials"], *other]))
    assert len(answer(run_document)) == 2
    assert [line.split(":")[0] for line in said[:2]] == ["lmdb was fastest on game", "lmdb was fastest on point-get"]


def test_the_gain_of_several_keys_a_request_comes_first(answered, tmp_path):
    run_document = document(read_run(write_run(tmp_path / "run", (SQLITE, LMDB), clients=(1,))))
    batches = [
        dict(trial, workload=f"batch-get?batch={keys}", trial=f"{keys}-{trial['trial']}")
        for trial in run_document["trials"]
        for keys in (1, 10)
    ]
    first, *_ = flat(dict(run_document, trials=batches))
    assert " gave 10.0 × as many rows a second with 10 keys a request as with 1: " in first
