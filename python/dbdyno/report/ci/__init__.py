"""What `dbdyno ci` says of a pull request: decisions, and the comment."""
