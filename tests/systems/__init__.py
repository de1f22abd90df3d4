"""Tests of dbdyno.systems."""
