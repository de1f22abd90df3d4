"""`until_flat`: a sweep of rising clients ends where its curve is flat; what is left out is written down and said."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dbdyno.conduct.context import Context
from dbdyno.experiment.trials import Cell, Trial, cell_of
from dbdyno.results.read import read_trial
from dbdyno.results.usable import unusable
from dbdyno.stats.flatness import Flat, flatness


@dataclass
class _Sweep:
    """The steps of one sweep that can be used: clients, and throughput of each whole second."""

    clients: list[int] = field(default_factory=list)
    rates_per_s: list[list[float]] = field(default_factory=list)


class UntilFlat:
    """Watches the sweeps of one preparation: the trials that differ in nothing but their clients."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._sweeps: dict[Cell, _Sweep] = {}

    def after(self, ended: Trial, waiting: Sequence[Trial]) -> list[Trial]:
        """Return those of the `waiting` trials that are still to be run after `ended`.

        A trial that failed is no step: nothing is concluded from it.
        """
        share = self._context.experiment.until_flat
        further = [trial for trial in waiting if _sweep_of(trial) == _sweep_of(ended)]
        if share is None or not further:
            return list(waiting)
        sweep = self._sweeps.setdefault(_sweep_of(ended), _Sweep())
        self._take(sweep, ended)
        if not (flat := flatness(sweep.rates_per_s, share)):
            return list(waiting)
        self._leave_out(further, conclude(sweep.clients, further, flat, share))
        return [trial for trial in waiting if trial not in further]

    def _take(self, sweep: _Sweep, ended: Trial) -> None:
        trial = read_trial(self._context.folder.path / "trials" / ended.name)
        rates = [interval.completed / interval.seconds for interval in trial.recorded.whole_seconds]
        if rates and not unusable(trial):
            sweep.clients.append(ended.clients)
            sweep.rates_per_s.append(rates)

    def _leave_out(self, further: Sequence[Trial], sentence: str) -> None:
        first = further[0]
        about = {
            "system": first.system.label,
            "workload": first.workload,
            "pipeline": first.pipeline,
            "network_delay_us": first.network_delay_us,
            "clients": [trial.clients for trial in further],
            "reason": sentence,
        }
        self._context.journal.leave_out([trial.name for trial in further], about)
        self._context.listener.steps_are_left_out(len(further), f"{first.system.label}, {first.workload}: {sentence}")


def _sweep_of(trial: Trial) -> Cell:
    return replace(cell_of(trial), clients=0)


def conclude(clients: Sequence[int], further: Sequence[Trial], flat: Flat, share: float) -> str:
    """Return the sentence that says which steps are left out, and why."""
    last = " and ".join(map(str, clients[-len(flat.rises) :]))
    rises = " and ".join(f"{rise:+.1%}" for rise in flat.rises)
    noise = "noise within trials is not known" if flat.noise is None else f"noise within trials {flat.noise:.1%}"
    left = ", ".join(str(trial.clients) for trial in further)
    return (
        f"not run with {left} clients: the curve is flat, {last} clients gave {rises} over the best before "
        f"({clients[flat.best]}), which is less than {100 * share:.4g} % beyond noise ({noise})"
    )
