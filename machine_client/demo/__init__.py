"""The window of ``farhand demo``: it shows what arrives at the virtual desktop."""
