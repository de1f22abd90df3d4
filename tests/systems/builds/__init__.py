"""Tests of dbdyno.systems.builds."""
