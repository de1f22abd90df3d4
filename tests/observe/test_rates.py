"""Growth per second is between the last two samples that saw a column."""

from dbdyno.observe.rates import Rates


def row(at, **values):
    return {"at_unix_s": at, **values}


def test_a_column_that_was_left_out_grows_over_the_longer_time():
    rates = Rates()
    rates.see(row(10, a_total=100, b_total=5, gauge=3))
    assert rates.of("a_total") is None
    rates.see(row(11, a_total=104))
    rates.see(row(12, a_total=110, b_total=9))
    assert (rates.of("a_total"), rates.of("b_total"), rates.of("gauge")) == (6, 2, None)


def test_what_began_anew_has_not_shrunk_and_other_bands_are_left_alone():
    rates = Rates("process.")
    rates.see(row(1, **{"process.x_total": 50, "store.x_total": 1}))
    rates.see(row(2, **{"process.x_total": 3, "store.x_total": 2}))
    assert rates.of("process.x_total") == 0 and rates.of("store.x_total") is None
