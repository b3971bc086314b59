"""Which proxies and certificates a link takes from the settings of Windows.

Under Wine, and for the user of the test alone.  Argument: a certificate in PEM.  Prints the proxy
that a link would take, without and with a list of hosts to leave out, that of a SOCKS proxy, and
whether the certificate is trusted.
"""

import ctypes
import json
import ssl
import sys
from ctypes import wintypes
from pathlib import Path
from typing import Any

from machine_client.link.websocket import proxy_for, tls_context
from machine_client.settings import MachineSettings

PLACE = r"Software\Microsoft\Windows\CurrentVersion\Internet Settings"
ENCODING = 0x00010001  # X509_ASN_ENCODING | PKCS_7_ASN_ENCODING
REPLACE_EXISTING = 3


def main(certificate: str) -> None:
    """Print them as a JSON list."""
    settings = MachineSettings.model_validate({"server": "https://farhand.example", "token": "t"})
    told: list[object] = []
    for server, left_out in (
        ("proxy.example:3128", ""),
        ("proxy.example:3128", "*.example"),
        ("socks=socks.example:1080", ""),
    ):
        _set_proxy(server, left_out)
        told.append(proxy_for(settings))
    _set_proxy("", "")
    told += [proxy_for(settings), _trusts(settings, certificate)]
    sys.stdout.write(json.dumps(told) + "\n")


def _set_proxy(server: str, left_out: str) -> None:
    import winreg  # noqa: PLC0415  there is none on Linux

    registry: Any = winreg
    with registry.CreateKey(registry.HKEY_CURRENT_USER, PLACE) as key:
        registry.SetValueEx(key, "ProxyEnable", 0, registry.REG_DWORD, int(bool(server)))
        registry.SetValueEx(key, "ProxyServer", 0, registry.REG_SZ, server)
        registry.SetValueEx(key, "ProxyOverride", 0, registry.REG_SZ, left_out)


def _trusts(settings: MachineSettings, file: str) -> list[bool]:
    """Whether a certificate is trusted before and after it is put into the user's store."""
    content = ssl.PEM_cert_to_DER_cert(Path(file).read_text())

    def is_trusted() -> bool:
        context = tls_context(settings)
        return context is not None and content in context.get_ca_certs(binary_form=True)

    before = is_trusted()
    crypt32: Any = getattr(ctypes, "windll").crypt32  # noqa: B009  there is none on Linux
    crypt32.CertOpenSystemStoreW.restype = ctypes.c_void_p
    store = ctypes.c_void_p(crypt32.CertOpenSystemStoreW(None, "ROOT"))
    crypt32.CertAddEncodedCertificateToStore.argtypes = (
        *(ctypes.c_void_p, wintypes.DWORD, ctypes.c_char_p),
        *(wintypes.DWORD, wintypes.DWORD, ctypes.c_void_p),
    )
    added = crypt32.CertAddEncodedCertificateToStore(
        store, ENCODING, content, len(content), REPLACE_EXISTING, None
    )
    crypt32.CertCloseStore(store, 0)
    return [before, bool(added), is_trusted()]


if __name__ == "__main__":
    main(*sys.argv[1:])
