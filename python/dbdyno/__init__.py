"""dbdyno: a dynamometer for databases."""

__version__ = "0.1.0"
