"""Values by scale become those of one scale; an error names the key and the scales."""

import pytest

from dbdyno.experiment.scale import SCALES, at_scale

SIZES = {
    "question": "How?",
    "rows": {"small": 10, "medium": 100, "full": 1000},
    "seconds": {"small": 1, "medium": 20, "full": 3600},
    "warmup_seconds": 1,
    "options": {"rw": 1, "partitions": {"small": 1, "medium": [1, 16], "full": [1, 16]}},
    "system": [
        "sqlite",
        {"system": "mariadb", "settings": {"sync_binlog": {"small": 0, "medium": [0, 1], "full": 1}, "log_bin": "on"}},
        {"system": "mysql@8.0", "scale": ["medium", "full"], "label": "theirs"},
        {"system": "lmdb", "scale": "small"},
    ],
}


@pytest.mark.parametrize("given", [{}, {"scale": "small"}])
def test_a_file_is_at_its_first_scale_where_it_names_none(given):
    assert at_scale(SIZES | given) == {
        "question": "How?",
        "scale": "small",
        "rows": 10,
        "seconds": 1,
        "warmup_seconds": 1,
        "options": {"rw": 1, "partitions": 1},
        "system": [
            "sqlite",
            {"system": "mariadb", "settings": {"sync_binlog": 0, "log_bin": "on"}},
            {"system": "lmdb"},
        ],
    }


def test_systems_settings_and_options_are_those_of_the_scale():
    medium = at_scale({**SIZES, "scale": "medium"})
    assert (medium["rows"], medium["seconds"], medium["options"]["partitions"]) == (100, 20, [1, 16])
    assert medium["system"][1]["settings"]["sync_binlog"] == [0, 1]
    assert medium["system"][2:] == [{"system": "mysql@8.0", "label": "theirs"}]


def test_what_is_given_as_one_value_holds_at_every_scale():
    plain = {"rows": 10, "seconds": 5, "options": {"access": "zipfian"}, "system": "sqlite"}
    assert at_scale(plain) == plain
    some = plain | {"seconds": {"small": 1, "full": 60}}
    assert (at_scale(some)["seconds"], at_scale(some)["rows"]) == (1, 10)
    assert at_scale({**some, "scale": "full"})["seconds"] == 60


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"seconds": {"tiny": 1}}, "^seconds: there is no scale 'tiny'; the scales are small, medium, full$"),
        ({"clients": {"small": [1]}, "scale": "full"}, "^scale = 'full': clients has only small$"),
        ({"scale": "huge"}, "^scale = 'huge': rows has only small, medium, full$"),
        ({"options": {"rw": {"smal": 1}}}, r"^options\.rw: there is no scale 'smal'; "),
        ({"system": {"system": "lmdb", "settings": {"sync": {"big": 1}}}}, r"^settings\.sync: there is no scale 'big'"),
        ({"system": {"system": "lmdb", "scale": "big"}}, "^system lmdb: there is no scale 'big'; "),
        ({"system": [{"system": "lmdb", "scale": "full"}]}, "^scale = 'small': there is no system at that scale$"),
    ],
    ids=str,
)
def test_what_is_wrong_is_refused_with_what_is_known(keys, said):
    with pytest.raises(ValueError, match=said):
        at_scale(SIZES | keys)


def test_a_scale_that_nothing_depends_on_is_refused():
    for scale in SCALES:
        with pytest.raises(ValueError, match="this file gives nothing by scale"):
            at_scale({"rows": 10, "seconds": 5, "scale": scale})
