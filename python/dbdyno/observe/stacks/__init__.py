"""Where processes spend their time and where they wait: stacks, recorded by Linux's perf."""
