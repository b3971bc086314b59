"""Who there is: organizations, their tokens, and the sessions of people."""
