"""Tests of dbdyno.observe.gauges."""
