"""The usual kind: clients of the load client run transactions, in a closed or an open loop."""

from collections.abc import Iterator

from dbdyno.conduct.capacity import run_share
from dbdyno.conduct.context import Context
from dbdyno.conduct.find_rate import find_rate
from dbdyno.conduct.kinds.base import WorkloadKind
from dbdyno.conduct.listener import Outcome
from dbdyno.conduct.trial import Prepared, run_trial
from dbdyno.experiment.trials import Trial


class LoadKind(WorkloadKind):
    """Transactions of clients; it refuses nothing that an experiment can ask for."""

    errors_count = True
    divides = True

    def run(self, context: Context, prepared: Prepared, trial: Trial) -> Iterator[Outcome]:
        """Run one trial, at the share of capacity it asks for, or the rate search that begins with it."""
        if context.experiment.find_rate:
            yield from find_rate(context, prepared, trial)
        elif trial.rate and trial.rate.share:
            yield run_share(context, prepared, trial)
        else:
            yield run_trial(context, prepared, trial)
