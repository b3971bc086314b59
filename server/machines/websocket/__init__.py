"""The websockets that machines and hands are on: their frames, and what these cost."""
