"""What the guards know of a run, and how they remove it."""
