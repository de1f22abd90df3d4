"""Tests of dbdyno.export."""
