"""Tests of dbdyno.metrics."""
