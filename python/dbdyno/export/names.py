"""The formats and tables by name. The parser of the command line names them, and loads no library for it."""

TABLES = ("trials", "operations", "seconds", "observations", "histograms")
TABLES_OF = {
    "csv": TABLES,
    "parquet": TABLES,
    "prometheus": ("trials", "seconds"),
    "junit": (),
    "otava": (),
    "markdown": (),
}
"""The formats, and the tables that each can be made of; the others have their own shape."""
