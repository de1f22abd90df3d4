"""The client that drives a system, as the label of a trial names it."""

from __future__ import annotations


def without_client(label: str, client: str) -> str | None:
    """Return a label without its end, `via` and a client library or a program; `None` if it has no such end.

    Args:
        label: of a trial.
        client: of `trial.json`. A program is its path, of which a label may have the file's name alone.
    """
    ends = (f" via {words}" for words in (client, client.rpartition("/")[2]))
    return next((label.removesuffix(end) for end in ends if label.endswith(end)), None)
