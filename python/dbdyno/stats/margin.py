"""The margin of comparisons, in a module that loads nothing: the command line shows it in its help."""

MARGIN = 0.02
"""Differences within ±2 % are taken for no difference."""
