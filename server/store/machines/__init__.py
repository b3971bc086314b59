"""What MongoDB keeps of machines."""
