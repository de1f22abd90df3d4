"""`python -m scripts.figures` draws pages and pictures from results/; with names, takes these figures first."""

import sys
from pathlib import Path

from scripts.figures import benches
from scripts.figures.declared import declared
from scripts.figures.take import picture, take, wait_until_quiet
from scripts.reference.pages import write

ROOT = Path(__file__).parents[2]

runs, compared = declared(ROOT), benches.benches(ROOT)
known = runs | compared
if unknown := set(sys.argv[1:]) - known.keys():
    sys.exit(f"results/*.toml have no {', '.join(sorted(unknown))}; they have {', '.join(known)}")
for name in sys.argv[1:]:
    print(name, flush=True)
    wait_until_quiet()
    if name in runs:
        take(ROOT, runs[name])
    else:
        benches.take(ROOT, compared[name])
for figures in runs.values():
    picture(ROOT, figures)
write(ROOT)
