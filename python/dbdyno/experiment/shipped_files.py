"""The experiments that come with dbdyno: their files and questions, which a list needs; the rest is not checked."""

from pathlib import Path

from dbdyno.experiment.toml import parse_toml

SHIPPED = Path(__file__).parent.parent / "shipped"


def shipped_experiments() -> dict[str, Path]:
    """Return the experiments that come with dbdyno, name to file."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.toml"), key=lambda path: path.stem)}


def shipped_questions() -> dict[str, str]:
    """Return the question of each experiment that comes with dbdyno, by its name."""
    return {name: _question(path.read_text(encoding="utf-8")) for name, path in shipped_experiments().items()}


def _question(text: str) -> str:
    """Return the question of a shipped file. Its first paragraph has it: to parse 36 whole files takes 30 ms."""
    first, _, _ = text.partition("\n\n")
    return str(parse_toml(first)["question"])
