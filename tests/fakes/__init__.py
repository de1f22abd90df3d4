"""Stand-ins for the outside world: a load client without a store, and a system without a server."""
