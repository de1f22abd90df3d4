"""Names the setting of a server that refused clients because it has too many connections."""

from dbdyno.results.facts import TrialFacts

SETTINGS = ("max_connections", "maxclients")
"""Settings for how many connections a server takes."""
REFUSALS = ("too many connections", "too many clients", "connection slots", "max number of clients")
"""Parts of what servers say to a client that is one too many, in small letters."""


def with_setting(reason: str | None, facts: TrialFacts) -> str | None:
    """Return why a trial failed, with the setting to raise if the server took too few of its clients."""
    if reason is None or not any(words in reason.lower() for words in REFUSALS):
        return reason
    settings = (server.effective_settings or {} for server in facts.known_servers)
    known = [f"{name}={own[name]}" for own in settings for name in SETTINGS if name in own]
    return f"{reason} ({known[0]}): raise it, or run fewer clients" if known else reason
