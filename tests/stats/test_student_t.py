"""Values of a printed table, and their way back."""

import subprocess
import sys

import pytest

from dbdyno.stats.student_t import probability_below, quantile


@pytest.mark.parametrize(
    ("freedom", "probability", "t"), [(1, 0.975, 12.706), (4, 0.975, 2.776), (10, 0.95, 1.812), (30, 0.995, 2.750)]
)
def test_it_is_the_distribution_of_the_tables(freedom, probability, t):
    assert quantile(probability, freedom) == pytest.approx(t, abs=5e-4)
    assert probability_below(t, freedom) == pytest.approx(probability, abs=5e-5)


def test_one_falls_below_what_one_exceeds():
    assert probability_below(-2.0, 5) == pytest.approx(1 - probability_below(2.0, 5))


def test_scipy_is_not_loaded_before_it_is_used():
    program = (
        "import sys, dbdyno.stats.comparison, dbdyno.stats.change_points, dbdyno.stats.flatness; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "dbdyno.stats.student_t" in loaded and "scipy" not in loaded
