"""`dbdyno worker`: this host issues load for runs that are conducted elsewhere."""

from collections.abc import Sequence
from pathlib import Path

from dbdyno.conduct.load_client import find_load_client
from dbdyno.errors import UserError
from dbdyno.experiment.hosts import check_address, check_name
from dbdyno.hosts.certificates import Certificates, certificates_folder
from dbdyno.hosts.limits import is_own
from dbdyno.hosts.settings import need_dask
from dbdyno.hosts.worker import Post, make_folder, serve


def command(address: str, name: str, role: str, certificates: Path | None, source_addresses: Sequence[str]) -> None:
    """Serve run after run, until a signal ends it."""
    try:
        check_name(name)
        check_address(address)
        foreign = [own for own in source_addresses if not is_own(own)]
    except ValueError as error:
        raise UserError(str(error)) from None
    if foreign:
        raise UserError(f"--source-address: {foreign[0]} is no address of this host; `ip address` lists them")
    need_dask()
    own = Certificates.of(certificates or certificates_folder(), name)
    serve(Post(address, name, role, own, find_load_client(), make_folder(name), tuple(source_addresses)))
