"""Lists of machines: held in memory, kept up to date, filtered and sorted."""
