"""The run folder (docs/run-folder.md): written while a run goes on, and read again from the folder alone."""
