"""Tests of dbdyno.stats."""
