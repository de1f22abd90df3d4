"""No test depends on what a person keeps on this host, and no test adds to it."""

import subprocess
import sys
from pathlib import Path

import pytest

from dbdyno.results.noise import noise_file

BEFORE_ANY_TEST = noise_file()
"""The directory of noise floors while tests are collected: that of the person who runs them."""


@pytest.fixture(scope="module")
def of_a_module():
    return noise_file()


def test_noise_floors_are_the_tests_own(of_a_module, tmp_path_factory):
    assert noise_file() != BEFORE_ANY_TEST and noise_file().is_relative_to(tmp_path_factory.getbasetemp())
    assert of_a_module == noise_file()


def test_a_program_that_a_test_starts_has_them_there_too(tmp_path_factory):
    ask = "from dbdyno.results.noise import noise_file; print(noise_file())"
    said = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert Path(said.stdout.strip()).is_relative_to(tmp_path_factory.getbasetemp())
