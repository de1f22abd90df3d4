"""Tests of the flight table: rows, files, queries and answers."""
