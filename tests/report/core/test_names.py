"""Names of many settings show only what differs."""

from dbdyno.report.core.names import NAMED, listed, short_names

MANY = [f"store@{version} buffer_pool_size={size} flush={n}" for version in (1, 2) for size in (8, 9) for n in (0, 1)]


def test_settings_that_all_have_are_left_out_of_many_names():
    short, left_out = short_names(MANY)
    assert short[0] == "store@1 8 · 0" and short[-1] == "store@2 9 · 1"
    assert left_out == "buffer_pool_size · flush"


def test_a_setting_that_only_some_have_keeps_its_name():
    short, left_out = short_names([*MANY, "store@3 buffer_pool_size=8 flush=0 purge_threads=4"])
    assert short[-1] == "store@3 8 · 0 purge_threads=4"
    assert left_out == "buffer_pool_size · flush"


def test_names_with_room_or_without_a_common_setting_stay():
    assert short_names(MANY[:4]) == (MANY[:4], "")
    different = [f"store {'with-a-setting-' * 3}{n}=1" for n in range(9)]
    assert short_names(different) == (different, "")
    assert short_names([]) == ([], "")


def test_names_that_could_not_be_told_apart_stay():
    turned = [f"store a={n} b={'long' * 20}{m}" for n in (1, 2) for m in (1, 2)]
    assert short_names([*turned, "store b=1 a=2"])[1] == ""
    alike = [f"store a=1 2 {'long' * 50}", f"store 1 a=2 {'long' * 50}"]
    assert short_names(alike) == (alike, "")


def test_a_sentence_names_few():
    assert listed(["a", "b", "a"]) == "a, b"
    assert listed(map(str, range(NAMED + 1))) == "0, 1, 2 and 4 more"
    assert listed(["a" * 100, "b" * 100]) == f"{'a' * 100} and 1 more"
    assert listed(["a" * 300]) == "a" * 300
