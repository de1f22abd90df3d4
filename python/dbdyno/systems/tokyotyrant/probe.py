"""Counters of a ttserver, from `stat`. It does not show what its clients wait for."""

from __future__ import annotations

from dbdyno.errors import RunFailed
from dbdyno.systems.probe import ANSWER_TIMEOUT_S, Names, Probe, named
from dbdyno.systems.running.endpoint import Endpoint
from dbdyno.systems.tokyotyrant.client import Client

STAT: Names = {
    "cnt_get": "gets_total",
    "cnt_mget": "multi_gets_total",
    "cnt_put": "puts_total",
    "cnt_putkeep": "puts_of_new_total",
    "cnt_out": "removals_total",
    "cnt_misc": "calls_total",
    "cnt_get_miss": "get_misses_total",
    "cnt_put_miss": "put_misses_total",
    "rnum": "records",
    "size": "database_bytes",
    "memrss": "resident_bytes",
    "ru_user": "cpu_user_s_total",
    "ru_sys": "cpu_system_s_total",
}


class TokyoTyrantProbe(Probe):
    """Asks for `stat` on a connection that stays open."""

    def __init__(self, server: str, endpoint: Endpoint) -> None:
        super().__init__(server)
        self._endpoint = endpoint
        self._client: Client | None = None

    def open(self) -> None:
        self.close()
        try:
            self._client = Client(self._endpoint, ANSWER_TIMEOUT_S)
        except OSError as error:
            raise self._silent(error) from None

    def counters(self) -> dict[str, float]:
        assert self._client is not None, "not open"
        try:
            return named(self._client.stat(), STAT)
        except OSError as error:
            raise self._silent(error) from None

    def _silent(self, error: OSError) -> RunFailed:
        return RunFailed(f"{self.server} does not show its figures: {error}")

    def close(self) -> None:
        if self._client:
            self._client.close()
            self._client = None
