"""The torture suite: what nobody does on purpose, many times, with every choice drawn from a seed (docs/torture.md)."""
