"""Tests of dbdyno.conduct.kinds."""
