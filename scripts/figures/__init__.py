"""The figures of the documentation: taken by a declared command, kept in results/, and written into pages."""
