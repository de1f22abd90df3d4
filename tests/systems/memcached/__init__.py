"""Tests of dbdyno.systems.memcached."""
