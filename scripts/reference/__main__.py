"""Writes every generated page: `python -m scripts.reference`, from the root of the checkout."""

from pathlib import Path

from scripts.reference.pages import write

write(Path(__file__).parents[2])
