"""`--metrics`: the metrics of a run while it runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from rich.console import Console

from dbdyno.conduct.listener import Listener
from dbdyno.experiment.redact import redact


@contextmanager
def live_metrics(wanted: Sequence[str], experiment: str, console: Console, quiet: bool) -> Iterator[list[Listener]]:
    """Deliver metrics meanwhile to all that is wanted; yields who must be told of the run.

    Raises UserError for an endpoint that is none, or that metrics cannot be delivered to.
    """
    if not wanted:
        yield []
        return
    # Loaded only here: most runs have no live metrics.
    from dbdyno.metrics.endpoint import delivered, parse_endpoint  # noqa: PLC0415
    from dbdyno.metrics.figures import Figures  # noqa: PLC0415

    endpoints = list(map(parse_endpoint, wanted))
    with ExitStack() as open_ones:
        figures = [Figures(experiment) for _ in endpoints]
        deliveries = [open_ones.enter_context(delivered(*pair)) for pair in zip(figures, endpoints, strict=True)]
        if not quiet:
            for delivery in deliveries:
                console.print(f"Metrics: {redact(delivery.address)}", style="dim", soft_wrap=True)
        yield list(figures)
    for delivery in deliveries:
        if delivery.failed:
            said = f"{delivery.failed:,} of {delivery.tried:,} deliveries of metrics failed"
            print(f"dbdyno: {redact(delivery.address)}: {said}; the run is not affected", file=sys.stderr)
