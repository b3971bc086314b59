"""config/cluster with the real programs: each host of the file is an address of loopback."""

import contextlib
import itertools
import json
import random
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pymongo
import pytest
import yaml
from pymongo.errors import OperationFailure, PyMongoError, ServerSelectionTimeoutError

from server.bus.nats_server import find_nats_server
from server.store.embedded_mongod import find_mongod
from tests.desktop import program, virtual_display
from tests.hand_client import LEASE_SPELLINGS
from tests.processes import SCRIPTS, Program, ServedApi, joined, running, until

CLUSTER = Path(__file__).parent.parent / "config" / "cluster"
CONTAINERFILE = (CLUSTER.parent / "Containerfile").read_text()
PASSWORD = "pa55"
HOSTS = [f"{name}{number}" for name in ("mongo", "nats", "node") for number in (1, 2, 3)]
NODES = HOSTS[-3:]


class Cluster:
    """What the files say, with addresses of this test's own in the place of the hosts' names."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        network = f"127.{random.randrange(1, 255)}.{random.randrange(1, 255)}"
        self.addresses = {
            name: f"{network}.{number}" for number, name in enumerate([*HOSTS, "proxy"], 1)
        }
        self.services: dict[str, Any] = yaml.safe_load(self.text("compose.yaml"))["services"]
        self.programs: dict[str, Program] = {}

    def text(self, name: str) -> str:
        """A file as it is on these hosts."""
        text = re.sub(r"\$\{NATS_PASSWORD[^}]*\}", PASSWORD, (CLUSTER / name).read_text())
        # The name of a service, or a node's own, stays; what is an address follows @ , / or :.
        hosts = "|".join(HOSTS)
        return re.sub(
            rf"(?<=[@/,\" ])({hosts})(?=:\d)", lambda found: self.addresses[found[1]], text
        )

    @contextlib.contextmanager
    def running(self, name: str) -> Iterator[Program]:
        """One of the services."""
        service, own = self.services[name], self.directory / name
        own.mkdir(exist_ok=True)
        command = [self._here(word, name, own) for word in service["command"]]
        command[0] = {"mongod": str(find_mongod()), "nats-server": str(find_nats_server())}.get(
            command[0], str(SCRIPTS / command[0])
        )
        if service["command"][0] == "mongod":
            # All are on one host here: who finds another's socket in /tmp while it starts ends.
            command.append("--nounixsocket")
        variables: Mapping[str, str] = service.get("environment", {})
        with running(own / "log", variables, *command) as self.programs[name]:
            yield self.programs[name]

    def _here(self, word: str, name: str, own: Path) -> str:
        if word == "--bind_ip_all":
            return f"--bind_ip={self.addresses[name]}"
        if word == "/etc/nats/nats.conf":
            (own / "nats.conf").write_text(
                self.text("nats.conf").replace("0.0.0.0", self.addresses[name])
            )
            return str(own / "nats.conf")
        if word in ("/data/db", "/var/lib/farhand"):
            return str(own)
        return self.addresses[name] if word == "0.0.0.0" else word

    def make_replica_set(self) -> None:
        """What the service mongo-setup does, which starts again until it succeeds."""
        script = self.services["mongo-setup"]["command"][-1]
        configuration = json.loads(re.search(r"rs\.initiate\((.*)\)", script)[1])  # type: ignore[index]
        host = self.addresses["mongo1"]
        client: pymongo.MongoClient[dict[str, Any]]
        with pymongo.MongoClient(
            host, directConnection=True, serverSelectionTimeoutMS=2000
        ) as client:
            refusals: list[PyMongoError] = []

            def is_made() -> bool:
                ended = [name for name, program in self.programs.items() if not program.runs]
                assert not ended, f"{ended} did not go on running"
                # Each member has to answer, and no member waits for another to start.
                try:
                    client.admin.command("replSetInitiate", configuration)
                except (OperationFailure, ServerSelectionTimeoutError) as error:
                    refusals.append(error)
                    return False
                return True

            try:
                until(is_made, "the three are a replica set", 60)
            except AssertionError as failure:
                failure.add_note(f"mongo1 refused, last because of: {refusals[-1:]}")
                raise
            # They take some ten seconds; a node that gives up before would be started again.
            until(lambda: "primary" in client.admin.command("hello"), "they have a primary", 60)

    @contextlib.contextmanager
    def proxy(self) -> Iterator[str]:
        """nginx; yields where it answers."""
        own, address = self.directory / "proxy", self.addresses["proxy"]
        own.mkdir()
        text = self.text("nginx.conf").replace("listen 8600", f"listen {address}:8600")
        text = text.replace("/var/log/nginx", str(own))
        (own / "farhand.conf").write_text(text)
        temporary = "".join(
            f"{kind}_temp_path {own}/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (own / "nginx.conf").write_text(
            f"daemon off; pid {own}/nginx.pid; error_log stderr;\nevents {{}}\n"
            f"http {{\naccess_log off;\n{temporary}include {own}/farhand.conf;\n}}\n"
        )
        command = (program("nginx"), "-e", "stderr", "-c", str(own / "nginx.conf"))
        with running(own / "log", {}, *command):
            until((own / "nginx.pid").exists, "nginx runs")
            yield f"http://{address}:8600"

    def administrators_token(self) -> str:
        """The token that one of the nodes has made."""
        files = [self.directory / name / "admin-token" for name in NODES]
        return next(file for file in files if file.exists()).read_text().strip()

    def readiness(self, node: str) -> tuple[int, Mapping[str, Any]]:
        """What a node says of itself."""
        api = ServedApi(f"http://{self.addresses[node]}:8600", "")
        with contextlib.closing(api), contextlib.suppress(OSError):
            answer = api.call("GET", "/readyz")
            return answer.status, answer.json
        return 0, {}


@pytest.mark.timeout(300)
def test_cluster_serves_while_its_parts_end_and_come_back(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    with contextlib.ExitStack() as stack:
        for name in HOSTS[:6]:
            stack.enter_context(cluster.running(name))
        cluster.make_replica_set()
        nodes = {name: contextlib.ExitStack() for name in NODES}
        for name, alone in nodes.items():
            alone.enter_context(cluster.running(name))
            stack.callback(alone.close)
        for name in NODES:
            expected = 200, {"status": "ok", "node": name, "bus": "connected"}
            until(lambda: cluster.readiness(name) == expected, f"{name} is ready", 60)  # noqa: B023
        url = stack.enter_context(cluster.proxy())
        api = ServedApi(url, cluster.administrators_token())
        stack.callback(api.close)
        token = api.add_machine("desk-1")
        screen = stack.enter_context(virtual_display())
        desk = joined(url, token, tmp_path / "desk-1", screen, reconnect_longest="1")
        stack.enter_context(desk)
        until(lambda: api.is_in_state("desk-1", "online"), "the machine is online")
        keys = map("cluster-{}".format, itertools.count())

        def works() -> bool:
            answer = api.send("desk-1", "mouse/move", {"x": 3, "y": 4}, next(keys))
            return answer.status == 200

        # Whichever node nginx chooses: the one with the link knows of it first.
        until(lambda: all(works() for _ in range(6)), "every node has the machine")
        serving = api.machine("desk-1")["node"]
        assert cluster.programs[serving].terminate() == 0
        until(works, "another node has the machine")
        until(lambda: api.machine("desk-1")["node"] not in (None, serving), "it is elsewhere")
        nodes[serving].close()
        nodes[serving].enter_context(cluster.running(serving))
        until(lambda: cluster.readiness(serving)[0] == 200, "it is back", 60)
        for part in ("nats1", "mongo1"):
            cluster.programs[part].kill()
            until(works, f"without {part}", 60)
        # The others may still look for another NATS than the one that ended, or for the primary.
        until(lambda: all(works() for _ in range(6)), "every node has the machine", 60)


def test_proxy_logs_no_lease_however_its_address_is_spelled(tmp_path: Path) -> None:
    cluster, lease = Cluster(tmp_path), "secret-of-a-lease"
    with cluster.proxy() as url:  # and no node behind it, which is an error
        api = ServedApi(url, "")
        for spelling in LEASE_SPELLINGS:
            assert api.call("GET", f"/v1/machines/desk-1/{spelling}{lease}").status == 502
        api.close()
        log = tmp_path / "proxy" / "access.log"
        count = len(LEASE_SPELLINGS)
        until(lambda: log.read_text().count("\n") == count, "nginx has logged all of them")
        logged = [line.split()[2:5] for line in log.read_text().splitlines()]
    assert logged == [['"GET', '/v1/machines/..."', "502"]] * count
    for each in (tmp_path / "proxy").glob("*log"):
        assert lease not in each.read_text()


def test_images_have_what_the_files_ask_for() -> None:
    compose = yaml.safe_load((CLUSTER / "compose.yaml").read_text())
    assert set(compose["services"]) == {*HOSTS, "mongo-setup", "proxy"}
    targets = set(re.findall(r"^FROM \S+ AS (\S+)$", CONTAINERFILE, re.MULTILINE))
    for node in NODES:
        build = compose["services"][node]["build"]
        assert build["target"] in targets
        assert (CLUSTER / build["context"] / build["dockerfile"]).samefile(
            CLUSTER.parent / "Containerfile"
        )
    copied = {
        word
        for line in re.findall(r"^COPY (?!--from)(.*)$", CONTAINERFILE, re.MULTILINE)
        for word in shlex.split(line)[:-1]
    }
    assert all((CLUSTER.parent.parent / each).exists() for each in copied)
    started = re.findall(r'^CMD \["(\S+?)"', CONTAINERFILE, re.MULTILINE)
    assert all((SCRIPTS / each).exists() for each in started)
