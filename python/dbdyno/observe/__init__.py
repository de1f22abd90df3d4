"""Observes the host and the processes while a store is under load."""
