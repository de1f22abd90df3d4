"""Tests of dbdyno.systems.running."""
