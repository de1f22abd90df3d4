"""Waiting for a quiet host: until others are done, and no longer than it is worth."""

import psutil

from .quiet import wait_for_quiet


def test_it_waits_until_the_others_are_done():
    shares = iter((0.9, 0.5, 0.05))
    assert wait_for_quiet(lambda: next(shares)) is None
    assert next(shares, None) is None


def test_it_tells_what_others_use_if_they_go_on():
    assert wait_for_quiet(lambda: 0.5, patience_s=0) == psutil.cpu_count() / 2
