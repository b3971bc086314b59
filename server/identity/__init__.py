"""Who somebody is and may: tokens, sessions, and what they may give away."""
