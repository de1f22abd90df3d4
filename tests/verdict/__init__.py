"""Tests of dbdyno.verdict."""
