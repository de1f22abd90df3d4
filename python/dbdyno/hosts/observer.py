"""Observes a trial on the hosts of its servers."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from dbdyno.errors import RunFailed
from dbdyno.hosts.channel import Message
from dbdyno.hosts.elsewhere import Elsewhere
from dbdyno.observe.observer import Rows
from dbdyno.results.observations import HOSTS, LINES
from dbdyno.results.together import OF_HOST
from dbdyno.results.write import Lines


class HostsObserver:
    """Observes a trial on its server hosts, as `dbdyno.observe.observer.Observer` does on this one.

    hosts: their names, if there are several; then each has a folder with all that was observed there.
    """

    def __init__(self, servers: Sequence[Elsewhere], folder: Path) -> None:
        """Have each host connect to its server, and look what can be seen."""
        self._folder = folder
        self._watched = [_Watched(server) for server in servers]
        self.hosts = [watched.host for watched in self._watched] if len(servers) > 1 else []

    @property
    def not_seen(self) -> dict[str, str]:
        """The reasons why something cannot be observed; of several hosts with the host's name."""
        if not self.hosts:
            return self._watched[0].not_seen
        return {
            band: f"on {watched.host}: {reason}"
            for watched in self._watched
            for band, reason in watched.not_seen.items()
        }

    @property
    def cpu_s(self) -> float:
        """The CPU seconds that observing used."""
        return sum(watched.cpu_s for watched in self._watched)

    @contextmanager
    def watching(self, client_pid: int | None, client_forks: bool) -> Iterator[None]:
        """Observe meanwhile; the load clients are on other hosts."""
        del client_pid, client_forks
        with ExitStack() as stack:
            for number, watched in enumerate(self._watched):
                stack.enter_context(watched.watching(self._rows(number)))
            yield

    def stop(self) -> None:
        """Do nothing: what was observed is here."""

    def _rows(self, number: int) -> Rows:
        """Open where the samples of a host go; raises OSError if that cannot be written."""
        of_trial = Lines(self._folder / LINES)
        if not self.hosts:
            return of_trial
        folder = self._folder / HOSTS / self.hosts[number]
        folder.mkdir(parents=True, exist_ok=True)
        return _Both(Lines(folder / LINES), of_trial, is_first=number == 0)


class _Both:
    """Takes the samples of one host of several for its own table, and for the trial's while it runs."""

    def __init__(self, own: Rows, of_trial: Rows, is_first: bool) -> None:
        self._own, self._of_trial, self._is_first = own, of_trial, is_first

    def append_object(self, content: Mapping[str, float]) -> None:
        """Take a sample."""
        self._own.append_object(content)
        kept = {name: value for name, value in content.items() if self._is_first or not name.startswith(OF_HOST)}
        self._of_trial.append_object(kept)

    def close(self) -> None:
        """No more come."""
        self._own.close()
        self._of_trial.close()


class _Watched:
    """A server on another host, being observed. not_seen, cpu_s: as an observer has them."""

    def __init__(self, server: Elsewhere) -> None:
        self._server, self.host = server, server.post.host
        self.not_seen: dict[str, str] = {}
        self.cpu_s = 0.0
        # A host that is lost makes the trial invalid, and not the observer.
        try:
            self._learn(server.line.call("observe"))
        except RunFailed as error:
            self.not_seen["host"] = str(error)

    @contextmanager
    def watching(self, rows: Rows) -> Iterator[None]:
        """Observe meanwhile."""
        with self._server.observed(rows):
            try:
                with suppress(RunFailed):
                    self._server.line.call("watch")
                yield
            finally:
                with suppress(RunFailed):
                    self._learn(self._server.line.call("unwatch"))

    def _learn(self, seen: Message) -> None:
        self.not_seen, self.cpu_s = dict(seen["not_seen"]), float(seen["cpu_s"])
