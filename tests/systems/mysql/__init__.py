"""Tests of dbdyno.systems.mysql."""
