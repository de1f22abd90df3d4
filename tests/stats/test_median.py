"""The median is NumPy's."""

import numpy as np
import pytest

from dbdyno.stats.median import median


@pytest.mark.parametrize("values", [[3.0], [1.0, 4.0], [5.0, 1.0, 3.0], [0.1, 0.7, 0.2, 0.4], [2, 3, 7, 9]])
def test_it_is_that_of_numpy(values):
    assert median(np.array(values)) == np.median(values)
