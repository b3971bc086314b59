"""The program on the desktop: one outbound link, ordered execution, a journal, injection."""

from importlib.metadata import version

__version__ = version("farhand")
