"""The pages and what they are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from dbdyno.errors import DbdynoError
from dbdyno.report.core import plotly, words
from dbdyno.report.core.templating import TEMPLATES as REPORT_TEMPLATES
from dbdyno.report.html import environment_of_templates, page_of
from dbdyno.report.index import Entry
from dbdyno.report.sections.ranking import MARKS
from dbdyno.results.foreign_content import understood
from dbdyno.results.read import read_run
from dbdyno.serve.access import Access
from dbdyno.serve.comparison import compared
from dbdyno.serve.live import Live
from dbdyno.serve.matrix import matrix
from dbdyno.serve.runs import Runs
from dbdyno.tables.redaction import redacted_document, redacted_text

TEMPLATES = Path(__file__).parent / "templates"
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-modals; default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data: blob:; font-src data:; frame-ancestors 'none'"
)
"""A report carries its scripts itself. In a sandbox they reach neither the other pages nor the cookie."""


def application(folder: Path, hosts: list[str], token: str, cookie: str) -> Starlette:
    """Return the pages over the runs in `folder`.

    Args:
        hosts: names that a request may call this host; another's name would be a page elsewhere that points here.
        token: what a reader must have; `cookie` is the name of what keeps it.
    """
    runs = Runs(folder)
    live = Live(runs)
    views: dict[str, Callable[[Request], Response]] = {
        "/": lambda request: _gallery(runs, request),
        "/live": lambda _: _page("live.html.j2", here="live"),
        "/live.json": lambda _: JSONResponse(live.document()),
        "/matrix": lambda _: _matrix(runs),
        "/compare": lambda request: _compare(runs, request),
        "/report/{name}": lambda request: _report(runs, request),
        "/static/{name}": _static,
    }
    return Starlette(
        routes=[Route(path, view) for path, view in views.items()],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
            Middleware(BaseHTTPMiddleware, dispatch=Access(token, cookie)),
        ],
    )


@cache
def _templates() -> Environment:
    environment = environment_of_templates()
    assert environment.loader is not None, "the report's own"
    environment.filters["ratio"] = words.ratio
    environment.loader = ChoiceLoader([FileSystemLoader(TEMPLATES), environment.loader])
    return environment


def _page(template: str, status: int = 200, **content: Any) -> Response:
    return HTMLResponse(_templates().get_template(template).render(**content), status)


def _gallery(runs: Runs, request: Request) -> Response:
    entries = [summary.entry for summary in runs.summaries()]
    return _page(
        "gallery.html.j2",
        here="runs",
        folder=runs.folder.resolve().name,
        entries=[entry for entry in entries if not entry.broken],
        broken=[entry for entry in entries if entry.broken],
        wanted=request.query_params.get("filter", ""),
    )


def _matrix(runs: Runs) -> Response:
    return _page(
        "all_runs.html.j2", here="matrix", matrix=matrix(cell for summary in runs.summaries() for cell in summary.cells)
    )


def _compare(runs: Runs, request: Request) -> Response:
    names = [request.query_params.get(side, "") for side in ("baseline", "candidate")]
    entries = {summary.entry.name: summary.entry for summary in runs.summaries() if not summary.entry.broken}
    force = "force" in request.query_params
    proposed = _proposed(list(entries.values()))
    chosen = [entries.get(name) for name in names]
    folders = [runs.find(entry.name) for entry in chosen if entry]
    both = [folder for folder in folders if folder]
    comparison = compared(both[0], both[1], force) if len(both) == 2 else None
    return _page(
        "compare.html.j2",
        here="compare",
        entries=list(entries.values()),
        chosen=chosen,
        selected=[name or other for name, other in zip(names, proposed, strict=True)],
        comparison=comparison,
        force=force,
        marks=MARKS,
    )


def _proposed(entries: Sequence[Entry]) -> tuple[str, str]:
    """Return the names of the baseline and candidate that the form begins with.

    The candidate is the newest run, the baseline the one before it, of the same experiment if there is one.
    """
    if len(entries) < 2:
        return "", ""
    newest, *older = entries
    same = [entry for entry in older if entry.experiment == newest.experiment]
    return (same or older)[0].name, newest.name


def _report(runs: Runs, request: Request) -> Response:
    """Draw a run's report anew: what lies in its folder may be of a moment before, or of somebody else."""
    folder = runs.find(request.path_params["name"])
    if folder is None:
        return PlainTextResponse("There is no such run.", 404)
    try:
        with understood(folder):
            page = page_of(read_run(folder), redacted_document)
    except DbdynoError as error:
        return PlainTextResponse(redacted_text(str(error)), 422)
    return HTMLResponse(page, headers={"Content-Security-Policy": REPORT_POLICY})


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name == "plotly.js":
        packed = {"Content-Encoding": "gzip"}
        return Response(plotly.BUNDLE.read_bytes(), media_type="text/javascript", headers=packed)
    if name not in STATIC:
        return PlainTextResponse("There is no such file.", 404)
    files, kind = STATIC[name]
    return Response("\n".join(file.read_text(encoding="utf-8") for file in files), media_type=kind)


_CSS, _JS = "text/css", "text/javascript"
STATIC = {
    "page.css": ([REPORT_TEMPLATES / "page.css", REPORT_TEMPLATES / "report.css", TEMPLATES / "serve.css"], _CSS),
    "theme.js": ([REPORT_TEMPLATES / "theme.js"], _JS),
    "gallery.js": ([TEMPLATES / "gallery.js"], _JS),
    "live.js": ([REPORT_TEMPLATES / "plots.js", TEMPLATES / "live.js"], _JS),
}
"""Files that pages ask for, each made of others; there is no folder to be listed."""
