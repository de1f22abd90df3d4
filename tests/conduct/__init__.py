"""Tests of dbdyno.conduct."""
