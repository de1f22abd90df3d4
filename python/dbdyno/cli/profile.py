"""When `--profile` records stacks: after each trial, or during it, if it stalls."""

from dbdyno.errors import UserError
from dbdyno.experiment.bounds import cut

AFTER, ON_STALL = "after", "on-stall"
"""Values of the option; alone it means the first."""


def apart(experiment: str | None, profile: str | None) -> tuple[str | None, str | None]:
    """Return the experiment and when to profile: in `dbdyno run --profile quickstart` the last is the experiment."""
    if experiment is None and profile not in (None, AFTER, ON_STALL):
        return profile, AFTER
    return experiment, profile


def parse_profile(text: str) -> bool | str:
    """Return the key of the experiment file; raises UserError if the option has no such value."""
    if text not in (AFTER, ON_STALL):
        raise UserError(f"--profile {cut(text)}: give --profile alone, or --profile {ON_STALL}")
    return True if text == AFTER else text
