"""What programs ask people, as it is kept."""
