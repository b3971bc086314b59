"""What is asked of a machine that is no input."""
