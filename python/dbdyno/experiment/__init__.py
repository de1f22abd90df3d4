"""The experiment file: read, checked, overridden and expanded into trials; pure but for reading the file."""
