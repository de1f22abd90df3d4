"""Tests of dbdyno.results."""
