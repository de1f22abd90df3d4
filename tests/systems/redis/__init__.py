"""Tests of dbdyno.systems.redis."""
