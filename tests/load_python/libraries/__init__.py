"""Tests of dbdyno.load_python.libraries, each against its real server."""
