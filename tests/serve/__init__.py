"""Tests of dbdyno.serve."""
