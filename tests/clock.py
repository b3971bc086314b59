"""A clock that stands still unless a test moves it."""


class Clock:
    """What it is called for, in seconds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now
