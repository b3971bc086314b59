"""At most once: the record of every keyed command, run where the machine's link lives."""
