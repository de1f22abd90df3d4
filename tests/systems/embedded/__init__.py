"""Tests of dbdyno.systems.embedded."""
