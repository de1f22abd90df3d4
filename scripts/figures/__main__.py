"""`python -m scripts.figures` draws pages and pictures from results/; with names, takes these figures first."""

import sys
from pathlib import Path

from scripts.figures.declared import declared
from scripts.figures.take import picture, take
from scripts.reference.pages import write

ROOT = Path(__file__).parents[2]

runs = declared(ROOT)
if unknown := set(sys.argv[1:]) - runs.keys():
    sys.exit(f"results/figures.toml has no {', '.join(sorted(unknown))}; it has {', '.join(runs)}")
for name in sys.argv[1:]:
    print(name, flush=True)
    take(ROOT, runs[name])
for figures in runs.values():
    picture(ROOT, figures)
write(ROOT)
