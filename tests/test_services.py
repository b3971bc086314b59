"""The units, the proxy's and the monitoring's files in config/, with the programs they are for."""

import contextlib
import http.client
import json
import os
import re
import shlex
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.certificates import self_signed
from tests.desktop import program
from tests.hand_client import LEASE_SPELLINGS
from tests.processes import SCRIPTS, ServerProcess, free_port, run, running, until

CONFIG = Path(__file__).parent.parent / "config"
PROGRAMS = re.compile(r"^(ExecStart=)/opt\S*/(\S+)", re.MULTILINE)


def unit(name: str) -> str:
    """A unit's text, with the programs where they are here."""
    return PROGRAMS.sub(rf"\1{SCRIPTS}/\2", (CONFIG / name).read_text())


def verified(directory: Path, name: str) -> str:
    """What systemd says of a unit; nothing is what it should."""
    ended = subprocess.run(
        [program("systemd-analyze"), "verify", str(directory / name)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        # A container has no runtime directory of its own.
        env={**os.environ, "XDG_RUNTIME_DIR": str(directory)},
    )
    said = [line for line in ended.stderr.splitlines() if name in line]
    return "\n".join(said) + ("" if ended.returncode == 0 else f"\n{ended.stderr}")


def test_server_unit_is_right_with_and_without_a_mongodb_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "farhand.service").write_text(unit("farhand.service"))
    assert verified(tmp_path, "farhand.service").strip() == ""
    extra = tmp_path / "farhand.service.d"
    extra.mkdir()
    (extra / "mongodb.conf").write_text(unit("farhand-mongodb.conf"))
    assert verified(tmp_path, "farhand.service").strip() == ""


def test_what_runs_is_what_the_guide_installs() -> None:
    docs = CONFIG.parent / "docs"
    server = (docs / "guide" / "server.md").read_text()
    machine = (docs / "guide" / "second-machine.md").read_text()
    kept = (docs / "reference" / "machine-client.md").read_text()
    text = (CONFIG / "farhand.service").read_text()
    (command,) = re.findall(r"^ExecStart=(\S+)/\S+ ", text, re.MULTILINE)
    assert f"\n{command}/pip install " in server
    machine_client = "~/farhand-machine/bin"
    assert f"\n{machine_client}/pip install " in machine
    assert f"\n{machine_client}/farhand-machine install --config " in kept


def test_mistake_in_a_unit_is_seen(tmp_path: Path) -> None:
    text = unit("farhand.service").replace("Restart=on-failure", "Restart=sometimes")
    (tmp_path / "farhand.service").write_text(text)
    assert "sometimes" in verified(tmp_path, "farhand.service")


class Started:
    """A unit's command and environment, as systemd would give them to it."""

    def __init__(self, directory: Path, *names: str) -> None:
        self.credentials = directory / "credentials"
        self.credentials.mkdir(mode=0o700)
        lines = [line for name in names for line in unit(name).splitlines()]
        values = [line.partition("=")[::2] for line in lines if not line.startswith("#")]
        self.sources = dict(value.split(":") for key, value in values if key == "LoadCredential")
        (command,) = (value for key, value in values if key == "ExecStart")
        place = str(self.credentials)
        self.command = shlex.split(command.replace("${CREDENTIALS_DIRECTORY}", place))
        self.variables = dict(
            value.replace("%d", place).split("=") for key, value in values if key == "Environment"
        )

    def hand_over(self, name: str, content: str) -> None:
        """What a file of root's holds, readable by the service alone."""
        assert self.sources[name].startswith("/etc/farhand/")
        file = self.credentials / name
        file.write_text(content)
        file.chmod(0o400)


@pytest.mark.parametrize("has_uri", [False, True])
def test_server_unit_starts_with_the_shipped_settings(
    tmp_path: Path, mongodb: str, database_name: str, has_uri: bool
) -> None:
    started = Started(tmp_path, "farhand.service", *["farhand-mongodb.conf"] * has_uri)
    data, port = tmp_path / "data", free_port()
    settings = (CONFIG / "server.toml").read_text()
    for ours, here in {
        "/var/lib/farhand": data,
        "8600": port,
        '"farhand"': f'"{database_name}"',
    }.items():
        settings = settings.replace(str(ours), str(here))
    started.hand_over("server.toml", settings)
    if has_uri:
        started.hand_over("mongodb-uri", mongodb + "\n")
    with running(tmp_path / "log", started.variables, *started.command) as server:
        server.says("listening on")
        assert (data / "mongodb").exists() is not has_uri
        assert server.terminate() == 0


def test_server_unit_is_not_started_again_for_a_mistake_in_its_settings(tmp_path: Path) -> None:
    started = Started(tmp_path, "farhand.service")
    started.hand_over("server.toml", "prot = 8600")
    ended = run(*started.command)
    assert ended.returncode == 2
    assert "RestartPreventExitStatus=2" in unit("farhand.service")


@contextlib.contextmanager
def nginx(directory: Path, server: ServerProcess) -> Iterator[tuple[int, ssl.SSLContext]]:
    """The shipped file in a real nginx before the server; its port, and who trusts it."""
    certificate, key = self_signed(directory)
    port = free_port()
    text = (CONFIG / "nginx.conf").read_text()
    for ours, here in {
        "listen 443 ": f"listen 127.0.0.1:{port} ",
        "/etc/ssl/farhand/fullchain.pem": certificate,
        "/etc/ssl/farhand/privkey.pem": key,
        "127.0.0.1:8600": f"127.0.0.1:{server.port}",
        "/var/log/nginx": directory,
    }.items():
        assert ours in text
        text = text.replace(ours, str(here))
    (directory / "farhand.conf").write_text(text)
    temporary = "".join(
        f"{kind}_temp_path {directory}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = directory / "nginx.conf"
    whole.write_text(
        f"daemon off; worker_processes 1; pid {directory}/nginx.pid; error_log stderr;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{temporary}include {directory}/farhand.conf;\n}}\n"
    )
    command = [program("nginx"), "-e", "stderr", "-c", str(whole)]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    # Newer releases want a directive that older ones do not have.
    warnings = [line for line in checked.stderr.splitlines() if "[warn]" in line]
    assert not [line for line in warnings if '"listen ... http2" directive' not in line]
    with running(directory / "nginx.log", {}, *command):
        # Checking has left an empty one.
        until((directory / "nginx.pid").read_text, "nginx runs")
        yield port, ssl.create_default_context(cafile=certificate)


def test_proxy_keeps_the_port_so_that_a_browser_can_sign_in(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path)
    with server.run(), nginx(tmp_path, server) as (port, trusting):
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=trusting, timeout=30)
        # A browser too old to send Sec-Fetch-Site has only its Origin to show.
        headers = {
            "Origin": f"https://127.0.0.1:{port}",
            "Farhand-Console": "1",
            "Content-Type": "application/json",
        }
        body = json.dumps({"token": server.administrators_token()})
        connection.request("POST", "/console/session", body, headers)
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (204, b"")
        assert "Secure" in answer.headers["Set-Cookie"]
        connection.close()


def test_proxy_logs_no_lease_however_its_address_is_spelled(tmp_path: Path) -> None:
    server, lease = ServerProcess(tmp_path), "secret-of-a-lease"
    with nginx(tmp_path, server) as (port, trusting):  # and nobody behind it, which is an error
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=trusting, timeout=30)
        for spelling in LEASE_SPELLINGS:
            connection.request("GET", f"/v1/machines/desk-1/{spelling}{lease}")
            assert connection.getresponse().read()
        connection.close()
        log = tmp_path / "farhand.log"
        count = len(LEASE_SPELLINGS)
        until(lambda: log.read_text().count("\n") == count, "nginx has logged all of them")
        logged = [line.split() for line in log.read_text().splitlines()]
    assert [line[2:5] for line in logged] == [['"GET', '/v1/machines/..."', "502"]] * count
    for each in tmp_path.glob("*.log"):
        assert lease not in each.read_text()


def test_prometheus_takes_the_settings_and_the_rules(tmp_path: Path) -> None:
    for name in ("prometheus.yml", "prometheus-alerts.yml"):
        text = (CONFIG / name).read_text()
        token = tmp_path / "token"
        token.touch()
        (tmp_path / name).write_text(text.replace("/etc/prometheus/farhand-token", str(token)))
    checked = subprocess.run(
        [program("promtool"), "check", "config", str(tmp_path / "prometheus.yml")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert checked.returncode == 0, checked.stderr
    assert "SUCCESS: 15 rules found" in checked.stdout
