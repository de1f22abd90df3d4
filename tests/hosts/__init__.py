"""Tests of `dbdyno.hosts`."""
