"""Why one side of a comparison is faster: what changed between both, one module a kind of evidence."""
