"""Certificates of our own, for tests."""

import subprocess
from pathlib import Path

from tests.desktop import program
from tests.waiting import WAIT_SECONDS


def self_signed(directory: Path, address: str = "127.0.0.1") -> tuple[Path, Path]:
    """Make a certificate for an address that nobody trusts yet; returns its file and its key's."""
    certificate, key = directory / "certificate.pem", directory / "key.pem"
    subprocess.run(
        [
            *(program("openssl"), "req", "-x509", "-newkey", "ec", "-nodes", "-days", "2"),
            *("-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", "/CN=farhand test"),
            *("-addext", f"subjectAltName=IP:{address}"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        timeout=WAIT_SECONDS,
        capture_output=True,
    )
    return certificate, key
