"""Tests of dbdyno.tables."""
