"""Valkey, started privately: Redis's protocol and directives. Attached, it is a server of that protocol."""

from dbdyno.systems.process import find_program
from dbdyno.systems.redis import Redis


class Valkey(Redis):
    """A private Valkey server, with the settings of Redis."""

    name = "valkey"
    what = "Valkey, any directive of valkey.conf"
    server_program = "valkey-server"

    @classmethod
    def missing(cls) -> str | None:
        if find_program(cls.server_program):
            return None
        return "valkey-server is not installed: apt install valkey-server, or take valkey@9.1"
