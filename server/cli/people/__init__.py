"""What programs ask people, on the command line."""
