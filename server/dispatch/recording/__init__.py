"""Recording: inputs that were carried out become steps, with pictures, and are written."""
