"""Tests of dbdyno.observe."""
