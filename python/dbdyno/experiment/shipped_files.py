"""The experiments that come with dbdyno: their files and questions, which a list needs; the rest is not checked."""

from pathlib import Path

from dbdyno.experiment.toml import parse_toml

SHIPPED = Path(__file__).parent.parent / "shipped"


def shipped_experiments() -> dict[str, Path]:
    """Return the experiments that come with dbdyno, name to file."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.toml"))}


def shipped_questions() -> dict[str, str]:
    """Return the question of each experiment that comes with dbdyno, by its name."""
    texts = {name: path.read_text(encoding="utf-8") for name, path in shipped_experiments().items()}
    return {name: str(parse_toml(text)["question"]) for name, text in texts.items()}
