"""The bodies of requests: who may send one, how much is in memory, how long they take."""
