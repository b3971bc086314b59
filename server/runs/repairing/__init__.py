"""What people do where a run is halted, so that the next run need not halt there."""
