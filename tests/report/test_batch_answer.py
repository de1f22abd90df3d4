"""The sentence that says what is gained if a request asks for many rows."""

from dbdyno.report.batch_answer import by_batch


def trial(label, batch, rate, clients=8):
    return {"label": label, "workload": f"batch-get?batch={batch}", "clients": clients, "throughput_per_s": rate}


def test_the_gain_is_that_of_the_median_rows_at_each_systems_best_load():
    trials = [
        *(trial("lmdb", 1, rate) for rate in (1000.0, 4000.0, 9000.0)),
        trial("lmdb", 100, 60.0),
        trial("redis", 1, 500.0),
        trial("redis", 1, 1000.0, clients=16),
        trial("redis", 10, 700.0),
        trial("redis", 100, 200.0),
        trial("memcached", 1, 900.0),
    ]
    assert by_batch(trials) == [
        "redis gave 20.0 × as many rows a second with 100 keys a request as with 1: 20,000/s.",
        "lmdb gave 1.50 × as many rows a second with 100 keys a request as with 1: 6,000/s.",
    ]


def test_repetitions_have_a_range_in_their_order():
    rates = ((1, 100.0), (1, 200.0), (1, 300.0), (10, 20.0), (10, 50.0), (10, 60.0))
    trials = [trial("redis", batch, rate) for batch, rate in rates]
    assert by_batch(trials)[0].startswith("redis gave 2.50 × (2.00 to 2.50) as many rows a second with 10 keys")


def test_without_two_numbers_of_keys_there_is_no_sentence():
    assert by_batch([trial("lmdb", 1, 1000.0), {"label": "redis", "workload": "batch-get"}]) == []
