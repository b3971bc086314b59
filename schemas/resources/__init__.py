"""The resources of the HTTP API, one file for each."""
