"""Gauges: what this host itself does, without any store. One file a quantity; measure.py has them all."""
