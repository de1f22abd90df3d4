"""The systems that a test run has: all at hand, those that dbdyno gets soon, those that take long to get or start."""

import pytest

LARGE_SERVERS = (
    *("mysql@5.5", "mysql@5.7", "mysql@8.0", "mariadb@11.4", "tidb", "postgresql@18", "galera"),
    *("ferretdb", "ferretdb?backend=postgresql", "cassandra?heap=512M&authenticator=PasswordAuthenticator"),
)
"""Servers that take long to get or to start."""
SMALL_VERSIONS = ("mysql@5.6", "valkey@9.1")
"""Servers that dbdyno gets soon enough for every test run."""
_LARGE = {text.split("?")[0] for text in LARGE_SERVERS}


def each(*texts):
    """Return systems as a test's parameters; a large one is marked as that, and one that dbdyno gets."""
    large, got = [pytest.mark.systems], [pytest.mark.versions]
    products = [text.split("?")[0] for text in texts]
    return [
        pytest.param(text, marks=large * (product in _LARGE) + got * (product in SMALL_VERSIONS))
        for text, product in zip(texts, products, strict=True)
    ]
