"""Tests of dbdyno.systems.cassandra."""
