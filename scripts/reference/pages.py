"""Every page and block that a program writes, by the path of its file."""

from pathlib import Path

from scripts.figures.blocks import renewed
from scripts.reference import experiments, systems
from scripts.reference.cli import cli_page
from scripts.reference.contract import contract_page, engines_table, schema_text
from scripts.reference.experiment_file import experiment_file_page
from scripts.reference.json_document import json_page
from scripts.reference.limits import limits_table, rules
from scripts.reference.man_page import man_page
from scripts.reference.markdown import replace_block
from scripts.reference.site import llms_text
from scripts.reference.workloads import workloads_page

GLANCE = "at a glance"
NOT_PAGES = ("README.md",)


def generated(root: Path) -> dict[str, str]:
    """Return the text of every file that is generated, or has a generated block, by its path from the root."""
    whole = {
        "docs/reference/cli.md": cli_page(),
        "docs/reference/experiment-file.md": experiment_file_page(),
        "docs/reference/json.md": json_page(root),
        "docs/contract.schema.json": schema_text(root),
        "docs/reference/contract-keys.md": contract_page(root),
        "docs/reference/systems.md": systems.systems_page(),
        "docs/reference/workloads.md": workloads_page(root),
        "python/dbdyno.data/data/share/man/man1/dbdyno.1": man_page(),
    }
    texts = whole | _blocks(root)
    texts |= renewed(root, texts)
    return texts | {"llms.txt": llms_text(root, texts)}


def write(root: Path) -> None:
    """Write every generated page that is not current, and print its path."""
    for path, text in generated(root).items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")
            print(path)


def _blocks(root: Path) -> dict[str, str]:
    """Return the pages that people write, with their generated blocks renewed."""
    glances = {path: systems.at_a_glance(path.stem) for path in _pages(root, "systems")}
    glances |= {path: experiments.at_a_glance(root, path.stem) for path in _pages(root, "experiments")}
    texts = {path: replace_block(path.read_text(encoding="utf-8"), GLANCE, block) for path, block in glances.items()}
    for path, name, block in (
        ("README.md", "systems", systems.readme_table()),
        ("docs/contract.md", "embedded engines", engines_table()),
        ("docs/embedded.md", "settings", systems.engine_settings()),
        ("docs/statistics.md", "limits inside the storage engine", rules()),
        ("docs/what-limited-it.md", "limits", limits_table()),
    ):
        texts[root / path] = replace_block((root / path).read_text(encoding="utf-8"), name, block)
    return {path.relative_to(root).as_posix(): text for path, text in texts.items()}


def _pages(root: Path, folder: str) -> list[Path]:
    """Return the pages about one thing in a folder of docs; those of experiments have a file of that name."""
    paths = [path for path in sorted((root / "docs" / folder).glob("*.md")) if path.name not in NOT_PAGES]
    shipped = root / "experiments"
    return [path for path in paths if folder != "experiments" or (shipped / f"{path.stem}.toml").exists()]
