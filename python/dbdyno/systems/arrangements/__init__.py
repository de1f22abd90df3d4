"""Systems made of other systems: caches in front, clusters, replicas."""
