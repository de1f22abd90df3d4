"""Valkey, started privately: Redis's protocol and directives. Attached, it is a server of that protocol."""

import re

from dbdyno.systems.builds.config import directives
from dbdyno.systems.builds.layout import Layout, beside
from dbdyno.systems.redis.redis import Redis
from dbdyno.systems.running.process import find_program


class Valkey(Redis):
    """A private Valkey server, with the settings of Redis."""

    name = "valkey"
    what = "Valkey, any directive of valkey.conf"
    server_program = "valkey-server"
    log_checker = "valkey-check-aof"
    layout = Layout(
        "binary", beside("valkey-server"), re.compile(r"Valkey server v=(?P<version>\S+)"), config=directives
    )

    @classmethod
    def missing(cls) -> str | None:
        if find_program(cls.server_program):
            return None
        return "valkey-server is not installed: apt install valkey-server, or take valkey@9.1"
