"""Tests of dbdyno.cli."""
