"""The machines of an organization, as operators have them: added, read, changed and removed."""
