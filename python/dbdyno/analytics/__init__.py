"""The flight on-time table and its queries: rows, files and answers; no store, no process, no clock."""
