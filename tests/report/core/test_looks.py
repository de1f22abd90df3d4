"""A store keeps its hue from report to report, and no two configurations look the same."""

import pytest

from dbdyno.report.core.looks import HUES, PATTERNS, Look, bar_marker, hues, looks, store_of

LIGHT, DARK = "#ffffff", "#1b1f25"
"""The cards that plots lie on (page.css)."""


def luminance(colour):
    """Relative luminance (WCAG 2.2)."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(first, other):
    low, high = sorted((luminance(first), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colour", [colour for shades in HUES for colour in shades])
def test_every_shade_is_seen_on_both_backgrounds(colour):
    assert contrast(colour, LIGHT) >= 2
    assert contrast(colour, DARK) >= 2


def test_no_two_configurations_of_a_store_look_the_same():
    of_one = looks([3] * 24)
    assert len({(look.colour, look.symbol, look.dash) for look in of_one}) == 24
    assert len({str(bar_marker(look)) for look in of_one}) == 3 * len(PATTERNS)
    assert {look.hue for look in of_one} == {3}


def test_variants_are_counted_for_each_hue():
    assert looks([1, 0, 1]) == [Look(1), Look(0), Look(1, 1)]


@pytest.mark.parametrize(
    ("system", "store"),
    [
        ("mysql", "mysql"),
        ("mysql@5.6", "mysql"),
        ("mysql?engine=MyISAM", "mysql"),
        ("mysql://host:3306/database", "mysql"),
        ("cache-aside(memcached, mysql)", "cache-aside"),
    ],
)
def test_versions_settings_and_places_belong_to_a_store(system, store):
    assert store_of(system) == store


@pytest.mark.parametrize(
    "stores",
    [
        ("mariadb", "postgresql"),
        ("sqlite", "lmdb", "mariadb", "cache-aside", "redis"),
        ("mariadb", "postgresql", "sqlite", "mysql", "tidb"),
        ("mariadb", "cache-aside", "postgresql", "memcached", "redis", "valkey", "sqlite", "lmdb"),
    ],
)
def test_stores_that_are_often_compared_have_the_same_hue_in_every_report(stores):
    assert hues(stores) == {store: hues([store])[store] for store in stores}


def test_stores_of_a_run_differ_as_far_as_there_are_hues():
    many = [f"store{n}" for n in range(len(HUES))]
    assert sorted(hues(many).values()) == list(range(len(HUES)))
    assert hues(many) == hues(reversed(many))
    more = [*many, "store8", "store9"]
    assert set(hues(more)) == set(more)
