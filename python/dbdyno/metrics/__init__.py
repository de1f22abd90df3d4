"""A run's metrics while it runs, for Prometheus or an OpenTelemetry collector; one file per way there."""
