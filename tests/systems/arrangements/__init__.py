"""Tests of dbdyno.systems.arrangements."""
