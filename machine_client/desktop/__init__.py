"""What inputs are injected into: one protocol, and a package for each windowing system."""
