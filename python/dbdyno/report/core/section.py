"""A section of the report: its condition, its content and its template."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbdyno.report.core.page import Page
    from dbdyno.report.core.plots import Figure


@dataclass(frozen=True, slots=True)
class Part:
    """The content of a section for one run.

    Attributes:
        content: the variables of its template beside `Page.context`.
        figures: its plots, by the id of their element in the page.
        later: data that the page parses only when it is first viewed, by id.
    """

    content: Mapping[str, object] = field(default_factory=dict)
    figures: Mapping[str, Figure] = field(default_factory=dict)
    later: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Section:
    """One section.

    Attributes:
        template: its partial template.
        part: returns its content for a run, or `None` if it does not apply.
        titles: the titles of plots that are also drawn as files, by id; `{time}` stands for the time that is shown.
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
