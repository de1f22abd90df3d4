"""Tests of what `dbdyno why` is made of."""
