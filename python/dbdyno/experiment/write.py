"""A checked experiment written back as a file that `dbdyno run` accepts, without passwords."""

import tomli_w

from dbdyno.experiment.limits import write_limits
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.system_spec import SystemSpec, format_system
from dbdyno.experiment.toml import Table


def to_toml(experiment: Experiment) -> str:
    """Return the experiment, every override and default in it, as TOML."""
    document: dict[str, object] = experiment.model_dump(
        exclude={"system", "scale", "combine", "rate", "find_rate", "limits", "precise", "until_flat"},
        exclude_none=True,
    )
    groups = document.pop("groups")
    if groups:
        document["clients"] = groups
    if experiment.rate:
        document["rate"] = [rate.as_written() for rate in experiment.rate]
    if experiment.find_rate:
        document["find_rate"] = str(experiment.find_rate)
    document["limits"] = write_limits(experiment.limits)
    for key in ("precise", "until_flat"):
        if (share := getattr(experiment, key)) is not None:
            document[key] = f"{100 * share:.6g}%"
    document["system"] = [_system(spec) for spec in experiment.system]
    return tomli_w.dumps({key: value for key, value in document.items() if value not in ({}, [])})


def _system(spec: SystemSpec) -> Table:
    variant = spec.variant.model_dump(exclude_unset=True, exclude_none=True)
    return {"system": format_system(spec), "label": spec.label} | ({"with": variant} if variant else {})
