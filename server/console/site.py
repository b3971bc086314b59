"""The documentation as a site, as ``make docs`` builds it, where it is installed.

It is read once, like the console's own files.  Its scripts are not served: they are other people's,
and would run where the console's session is.  Its pages can be read without them.
"""

from pathlib import Path

from server.console.assets import MEDIA_TYPES, Asset

FIRST_PAGE = "index.html"

SITE_MEDIA_TYPES = {
    **{name: MEDIA_TYPES[name] for name in ("html", "css", "svg")},
    "png": "image/png",
    "py": "text/plain; charset=utf-8",
}
"""What is served of it, by the end of the name."""


class Site:
    """The files of the site by their path in it; there are none without a directory."""

    def __init__(self, directory: Path | None) -> None:
        files = () if directory is None else directory.rglob("*")
        self._assets = {
            file.relative_to(directory or "").as_posix(): Asset(file.read_bytes(), media_type)
            for file in files
            if (media_type := SITE_MEDIA_TYPES.get(file.suffix[1:])) and file.is_file()
        }

    @property
    def is_installed(self) -> bool:
        """Whether there is anything to lead to."""
        return FIRST_PAGE in self._assets

    def find(self, path: str) -> Asset | None:
        """The file at that path, or None."""
        return self._assets.get(path)
