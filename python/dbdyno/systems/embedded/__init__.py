"""Stores that run inside the load client."""
