"""What a look at a desktop tells a person, whatever its kind."""

from contextlib import closing

from machine_client.desktop.base import Desktop


def sizes_of_displays(desktop: Desktop) -> str:
    """Its screens, as ``1280x800, 800x600``.  Raises DesktopError and InjectionUnavailable."""
    with closing(desktop.open_view()) as view:
        return ", ".join(f"{display.width}x{display.height}" for display in view.displays())


def size_of_picture(desktop: Desktop) -> str:
    """That a picture of it can be taken.  Raises DesktopError."""
    with closing(desktop.open_view()) as view:
        size = view.capture().size
    return f"operators can see {size.width}x{size.height}"
