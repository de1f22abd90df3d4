"""Tests of dbdyno.report.core."""
