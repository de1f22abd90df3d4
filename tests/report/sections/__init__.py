"""Tests of dbdyno.report.sections."""
