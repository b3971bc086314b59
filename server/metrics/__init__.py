"""What is counted and measured, as Prometheus reads it."""
