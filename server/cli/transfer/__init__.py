"""``farhand trajectory import`` and ``export``: files larger than memory, line by line."""
