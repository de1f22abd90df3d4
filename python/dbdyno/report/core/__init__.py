"""Parts that the sections of a report share."""
