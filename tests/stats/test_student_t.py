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


def loaded_after(program):
    """Return the modules that a Python has loaded at the end of a program."""
    command = [sys.executable, "-c", f"{program}\nprint(*sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_only_the_compiled_functions_are_loaded():
    loaded = loaded_after("import sys; from dbdyno.stats.student_t import quantile; quantile(0.975, 4)")
    assert "scipy.special._ufuncs" in loaded
    assert not {"scipy.special", "numpy.f2py", "numpy.testing"} & loaded


def test_scipy_can_be_used_before_and_afterwards():
    values = "from dbdyno.stats.student_t import quantile; t = quantile(0.975, 4)"
    use = "from scipy import optimize, stats; assert abs(stats.t.ppf(0.975, 4) - 2.776) < 1e-3"
    for program in (f"import sys; {values}; {use}", f"import sys; {use}; {values}"):
        assert {"scipy.special", "scipy.stats"} <= loaded_after(program)


ELSEWHERE = """
import sys
class Elsewhere:
    def find_spec(self, name, path=None, target=None):
        if name == "scipy.special._ufuncs" and not hasattr(sys.modules["scipy.special"], "__file__"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Elsewhere())
from dbdyno.stats.student_t import quantile
assert abs(quantile(0.975, 4) - 2.776) < 1e-3
"""


def test_a_scipy_that_has_them_elsewhere_is_loaded_whole():
    assert "numpy.f2py" in loaded_after(ELSEWHERE)
