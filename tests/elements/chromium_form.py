# mypy: ignore-errors
"""The form as a page in Chromium, which keeps its own record of what was pressed.

It does as `gtk3_form.py` does; what it is told goes to the page, and what that says comes back.
"""

import json
import os
import queue
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from form import ALIKE, COLUMNS, ROW, SECOND, shown

PAGE = Path(__file__).with_suffix(".html")
told = queue.SimpleQueue()


class Page(BaseHTTPRequestHandler):
    """What the page asks for."""

    def do_GET(self) -> None:
        """Give the page, what it shows, or what it is told to do."""
        address = urlsplit(self.path)
        if address.path == "/told":
            self._tell()
        elif address.path == "/shown":
            count = int(parse_qs(address.query)["count"][0])
            self._answer("application/json", json.dumps(places(count)).encode())
        else:
            self._answer("text/html", PAGE.read_bytes())

    def do_POST(self) -> None:
        """Say what the page says."""
        print(self.rfile.read(int(self.headers["Content-Length"])).decode(), flush=True)
        self._answer("text/plain", b"")

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""

    def _answer(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _tell(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        while True:
            self.wfile.write(f"data: {told.get()}\n\n".encode())
            self.wfile.flush()


def places(count: int) -> list:
    """What is shown, and where, as in the forms of the toolkits."""
    found = []
    for number, kind, text in shown(count):
        row, place = divmod(number, ROW)
        found.append(
            {
                "number": number,
                "kind": kind,
                "text": text,
                "row": row // COLUMNS,
                "column": row % COLUMNS * ROW + place,
            }
        )
    return found


def main() -> None:
    """Show the form until the end of the input."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    asked = urlencode(
        {
            "title": sys.argv[2],
            "count": sys.argv[1],
            "first": 0,
            "second": SECOND,
            "alike": ALIKE,
        }
    )
    with subprocess.Popen(
        [
            # It ends with this program, however that ends.
            *("setpriv", "--pdeathsig", "KILL", "--"),
            *(
                "chromium",
                "--no-sandbox",
                "--no-first-run",
                "--disable-gpu",
                "--password-store=basic",
            ),
            *("--force-renderer-accessibility", "--disable-popup-blocking", "--test-type"),
            *("--window-position=0,0", "--window-size=1500,900"),
            f"--user-data-dir={os.environ['FORM_DIRECTORY']}/{os.getpid()}",
            f"--app=http://127.0.0.1:{server.server_port}/?{asked}",
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "ACCESSIBILITY_ENABLED": "1"},
    ) as browser:
        for line in sys.stdin:
            told.put(line.rstrip("\n"))
        browser.kill()


main()
