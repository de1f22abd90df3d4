"""Tests of dbdyno.load_python."""
