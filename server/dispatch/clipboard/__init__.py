"""The clipboards of connected machines."""
