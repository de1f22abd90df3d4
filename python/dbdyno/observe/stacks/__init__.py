"""Stacks of the processes, running and waiting, recorded by Linux's perf."""
