"""Servers of the MongoDB protocol: FerretDB, and any that is attached."""
