"""Pure functions from recorded numbers to figures: no files, no servers, no clock."""
