"""What this machine has begun and ended, so that nothing is begun twice."""
