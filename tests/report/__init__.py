"""Tests of dbdyno.report."""
