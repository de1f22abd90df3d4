"""Tests of dbdyno.systems.postgresql."""
