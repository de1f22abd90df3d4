"""A section of the report: when it applies, what it shows, and the template that shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbdyno.report.core.page import Page
from dbdyno.report.core.plots import Figure


@dataclass(frozen=True, slots=True)
class Part:
    """What a section shows of one run.

    Attributes:
        content: what its template needs beside `Page.context`.
        figures: its plots, by the id of their place in the page.
        later: what the page parses only when it is first looked at, by id.
    """

    content: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    later: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Section:
    """One section.

    Attributes:
        template: its partial template.
        part: what it shows of a run, or `None` if it does not apply to it.
        titles: by id, of those of its plots that are also drawn as files; `{time}` stands for the time that is shown.
    """

    template: str
    part: Callable[[Page], Part | None]
    titles: Mapping[str, str] = field(default_factory=dict)


def always(_: Page) -> Part:
    """Return an empty part: the template reads the page alone."""
    return Part()


def if_systems(page: Page) -> Part | None:
    """Return an empty part if any system was measured."""
    return Part() if page.series else None


def if_clients(page: Page) -> Part | None:
    """Return an empty part if clients put load on any system."""
    return Part() if page.clients_loaded and page.series else None
