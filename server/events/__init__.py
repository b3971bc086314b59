"""Events: published within an organization, and sent to its subscribers."""
