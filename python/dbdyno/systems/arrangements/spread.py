"""Spread: the clients of a trial divided among servers that somebody else runs as one cluster, each holding all rows.

This is not sharding: there the rows are divided among the servers, and the key says which of them to ask.
"""

from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.systems.arrangements.cluster import Cluster
from dbdyno.systems.base import System
from dbdyno.systems.mysql.attachment import AttachedMySQL
from dbdyno.systems.postgresql.postgresql import AttachedPostgreSQL


class Spread(Cluster):
    """Nodes of one cluster, by their URLs: `spread(mysql://u@one/d, mysql://u@two/d)`."""

    name = "spread"
    takes_parts = True
    what = "clients spread over the nodes of a running cluster: spread(mysql://u@one/d, mysql://u@two/d)"

    @classmethod
    def made_of(cls, spec: SystemSpec, parts: list[System]) -> System:
        return cls(spec, parts)

    def __init__(self, spec: SystemSpec, nodes: list[System]) -> None:
        """Take the arrangement and its nodes; raises UserError if they cannot be nodes of one cluster."""
        super().__init__(spec, nodes)
        if len(nodes) < 2:
            raise UserError(
                f"{spec.label}: spread takes two nodes or more, e.g. spread(mysql://u@one/d, mysql://u@two/d)"
            )
        if any(not isinstance(node, AttachedMySQL | AttachedPostgreSQL) for node in nodes):
            raise UserError(
                f"{spec.label}: nodes of spread are given by URL, mysql:// or postgresql://: they hold the same"
            )
        if len({type(node) for node in nodes}) > 1:
            raise UserError(f"{spec.label}: the nodes of one cluster speak one protocol; give URLs of one scheme")
        if spec.settings:
            raise UserError(f"{spec.label}: settings follow the URL of a node, not the whole")
