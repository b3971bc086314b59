"""Pictures of the screen: taken only while somebody asks, encoded, and sent in frames."""
