"""Results as a person or a program reads them: a table, one JSON document, one HTML file."""
