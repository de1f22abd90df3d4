"""The file that a client names by its path, a C library or a program of the user's own: checked and told apart."""

from dbdyno.conduct.c_library import c_library_build
from dbdyno.conduct.own_client import program_build
from dbdyno.errors import BuildReplaced, system_words
from dbdyno.experiment.clients import c_library_of, program_of
from dbdyno.results.json_types import BuildStated
from dbdyno.systems.builds.identity import identify


def client_build(client: str) -> BuildStated | None:
    """Return the build of the file that a client names, as a trial states it; None if it names none.

    Raises UserError if it cannot be used, BuildReplaced if it is another one than when it was first asked for.
    """
    if program := program_of(client):
        path, build = program, program_build(program)
    elif c_library := c_library_of(client):
        path, build = c_library, c_library_build(client, c_library)
    else:
        return None
    try:
        is_same = identify(path).sha256 == build["sha256"]
    except OSError as error:
        raise BuildReplaced(f"{path} was removed ({system_words(error)})") from None
    if not is_same:
        raise BuildReplaced(f"{path} was replaced by another build")
    return build
