"""Names the setting of a server that refused clients because it has too many connections."""

from dbdyno.results.facts import TrialFacts
from dbdyno.verdict.connections import is_refusal, setting_of


def with_setting(reason: str | None, facts: TrialFacts) -> str | None:
    """Return why a trial failed, with the setting to raise if the server took too few of its clients."""
    if reason is None or not is_refusal(reason):
        return reason
    setting = setting_of(facts)
    return f"{reason} ({setting}): raise it, or run fewer clients" if setting else reason
