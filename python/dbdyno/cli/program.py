"""The command line: parse, call, print. Here every error becomes a line and a status."""

import signal
import sys
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

import click

from dbdyno.cli.commands import dbdyno
from dbdyno.cli.printable import protect_outputs
from dbdyno.errors import DbdynoError, Interrupted
from dbdyno.experiment.password import take_from_environment
from dbdyno.experiment.redact import redact
from dbdyno.later import LaterModule

if TYPE_CHECKING:
    import shutil
    import textwrap
else:
    shutil = LaterModule("shutil")
    textwrap = LaterModule("textwrap")


def main() -> None:
    """Run the command that was typed and end with its status."""
    _end_in_order()
    take_from_environment()
    protect_outputs()
    status = run(sys.argv[1:])
    _let_go_of_output()
    sys.exit(status)


def run(arguments: list[str]) -> int:
    """Run a command and return its exit status; what went wrong goes to stderr, without a password or a traceback."""
    try:
        return dbdyno.main(arguments or ["--help"], prog_name="dbdyno", standalone_mode=False) or 0
    except DbdynoError as error:
        return _say(str(error), error.exit_status)
    except click.ClickException as error:
        return _say(f"{error.format_message()}{_where_to_look(error)}", error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        return _say("interrupted", Interrupted.exit_status)
    except BrokenPipeError:
        # Whoever read our output has had enough (`dbdyno list | head`); Python must not complain of it at its end.
        sys.stdout = None
        return 1
    except OSError as error:
        what = error.strerror or str(error)
        return _say(f"{error.filename}: {what}" if error.filename else what, 1)


def _end_in_order() -> None:
    """Have SIGTERM and the end of the terminal end a command as Ctrl-C does; a run handles them itself."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        # nohup has the end of the terminal ignored.
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise KeyboardInterrupt


def _let_go_of_output() -> None:
    """Forget what the output did not take, such as a full disk: Python would complain of it once more at its end."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError:
        sys.stdout = None


def _where_to_look(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f" (see `{context.command_path} --help`)" if context else ""


def _say(message: str, status: int) -> int:
    # The terminal may be gone.
    with suppress(OSError):
        print(_fitted(f"dbdyno: {redact(message)}"), file=sys.stderr)
    return status


def _fitted(message: str) -> str:
    """Return a message with its lines broken at spaces if a terminal shows it; a path or a command stays whole."""
    if not sys.stderr.isatty():
        return message
    width = shutil.get_terminal_size().columns
    wrap = partial(textwrap.fill, width=width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(line if len(line) <= width else wrap(line) for line in message.split("\n"))
