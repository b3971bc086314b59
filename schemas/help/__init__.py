"""What programs ask people."""
