"""What the host and the processes do while a store is under load."""
