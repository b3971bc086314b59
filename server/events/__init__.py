"""What happens in an organization, told to whoever listens."""
