"""Tests of dbdyno.systems.mongodb."""
