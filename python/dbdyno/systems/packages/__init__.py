"""Servers as packages: exact versions that the ordinary package clients get, kept apart from the system's own.

Nothing of the host is configured or started, and what was got can be removed again.
"""
