"""What the frames of an error keep alive after somebody was told of it."""


def forget_frames(error: BaseException) -> None:
    """Let go of all that the frames of an error know, and of those of the errors before it.

    A frame that knows its own error stays until the garbage collector comes by, with every body and
    text that it knows.  A server that does little never calls that: whoever is refused often would
    fill the memory.
    """
    behind: BaseException | None = error
    while behind is not None:
        this, behind = behind, behind.__cause__ or behind.__context__
        this.__traceback__ = this.__context__ = this.__cause__ = None
