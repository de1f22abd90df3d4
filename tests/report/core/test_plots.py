"""Axes keep their labels apart, and all plots of latencies share a unit."""

from itertools import pairwise

from dbdyno.report.core import plots
from dbdyno.report.core.series import series_of


def test_labels_keep_their_distance():
    labels = plots.labels_with_room([1, 2, 4, 8, 16, 24, 32, 64, 96, 128, 160])
    numbers = [int(label) for label in labels if label]
    assert numbers[0] == 1 and all(after / before >= 1.4 for before, after in pairwise(numbers))
    assert plots.labels_with_room([8]) == ["8"]
    assert plots.labels_with_room([]) == []


def test_the_longest_latency_decides_the_unit(opened):
    assert plots.plot_unit(series_of(opened)) == ("s", 1e6)
    assert plots.scaled(2_500_000, 1e6) == 2.5
