"""A system as the keeper of a server host reads it."""

from dataclasses import asdict, replace

from dbdyno.experiment.system_spec import SystemSpec, Url
from dbdyno.hosts.channel import Message


def message_of(spec: SystemSpec) -> Message:
    """Return a system as a keeper reads it; who logs in to a part that runs already is no matter of a keeper's."""
    return {
        "name": spec.name,
        "version": spec.version,
        "settings": dict(spec.settings),
        "label": spec.label,
        "parts": [message_of(part) for part in spec.parts],
        "url": None if spec.url is None else asdict(replace(spec.url, user=None, password=None)),
    }


def spec_of(given: Message) -> SystemSpec:
    """Return the system that `message_of` wrote."""
    parts = tuple(map(spec_of, given["parts"]))
    url = None if given["url"] is None else Url(**given["url"])
    return SystemSpec(
        given["name"], dict(given["settings"]), parts, url, label=given["label"], version=given["version"]
    )
