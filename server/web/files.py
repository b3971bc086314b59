"""Pages and files for browsers: what a browser may do with them, and how long it keeps them."""

from schemas.http.entity_tags import ReadHeaders
from server.console.assets import Asset
from server.web.handler import ApiHandler

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        # What a machine says of itself cannot become markup, not even by a mistake of ours.
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
# Of pages that others' programs have built: they are shown, and run nothing.
WITHOUT_SCRIPTS = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        # The symbols in their style sheets are data.
        "img-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
REVALIDATE = "no-cache"
IMMUTABLE = "public, max-age=31536000, immutable"


class FileHandler(ApiHandler):
    """Answers with pages, and with the files that they load."""

    def answer_page(
        self, page: Asset, headers: ReadHeaders, policy: str = CONTENT_SECURITY_POLICY
    ) -> None:
        """Send a page, which may load nothing but this server's own files."""
        self.set_header("Content-Security-Policy", policy)
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("Cross-Origin-Opener-Policy", "same-origin")
        self.set_header("X-Frame-Options", "DENY")
        self.answer_asset(page, REVALIDATE, headers)

    def answer_asset(self, asset: Asset, caching: str, headers: ReadHeaders) -> None:
        """Send a file, or 304 where the browser has it."""
        self.set_header("ETag", asset.tag)
        self.set_header("Cache-Control", caching)
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Cross-Origin-Resource-Policy", "same-origin")
        if headers.if_none_match is not None and headers.if_none_match.name(asset.tag):
            self.answer(304)
        else:
            self.answer_bytes(200, asset.content, asset.media_type)
