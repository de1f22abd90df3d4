"""The sections of a report, one module each with its template."""
