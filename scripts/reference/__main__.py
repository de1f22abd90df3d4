"""Writes every generated page: `python -m scripts.reference`, from the root of the checkout."""

from pathlib import Path

from scripts.reference.pages import generated

ROOT = Path(__file__).parents[2]

for path, text in generated(ROOT).items():
    target = ROOT / path
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")
        print(path)
