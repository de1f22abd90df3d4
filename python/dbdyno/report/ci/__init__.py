"""The answer of `dbdyno ci` to a pull request: decisions, and the comment."""
