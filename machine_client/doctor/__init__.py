"""``farhand-machine doctor``: which hop to the server fails, and its remedy."""
