"""Passwords typed into every kind of place while it is recorded, and sought everywhere after."""

import random
import string
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote
from uuid import uuid4

from tests.canaries import looking
from tests.canaries.places import PLACES, Place
from tests.processes import ServedApi, ServerProcess

LONGEST_PAUSE: Final = 0.7
"""Seconds between two inputs: sometimes too short for a look in between, mostly not."""

LENGTH: Final = 12


@dataclass
class Outcome:
    """What was typed, and where any of it was found."""

    typed: int = 0
    steps: int = 0
    secrets: int = 0
    pictures: int = 0
    found: dict[str, set[str]] = field(default_factory=dict)

    def table(self) -> str:
        """All of it, for a person."""
        lines = [
            f"{self.typed} canaries typed, {self.steps} steps, {self.secrets} of them secret, "
            f"{self.pictures} pictures read"
        ]
        lines += [f"  {len(those)} in {where}" for where, those in sorted(self.found.items())]
        return "\n".join(lines if self.found else [*lines, "  none found anywhere"])


def measured(
    directory: Path, names: Iterable[str], count: int, *, pictures: int, seed: int = 1
) -> dict[str, Outcome]:
    """Type so many canaries in each place; what came of it, by the places' names.

    At most so many ``pictures`` of each are read.
    """
    outcomes: dict[str, Outcome] = {}
    server = ServerProcess(directory / "server", heartbeat="20", input_timeout="20")
    server.directory.mkdir()
    with server.run(), closing(server.api()) as api:
        for name in names:
            numbers = random.Random(f"{seed} {name}")
            own = directory / name
            with PLACES[name](server, api, own) as place, _events(server, own):
                outcomes[name] = _typed(place, api, numbers, count, pictures)
            _search(outcomes[name], directory, api)
    return outcomes


def _typed(
    place: Place, api: ServedApi, numbers: random.Random, count: int, most_pictures: int
) -> Outcome:
    path = f"/v1/machines/{place.machine.machine}/recordings"
    recording = api.call("POST", path, {}).json
    outcome, canaries = Outcome(typed=count), new_canaries(numbers, count)
    for canary in canaries:
        _type(place, numbers, canary)
    ended = api.call("POST", f"/v1/recordings/{recording['id']}/stop").json
    trajectory = api.call("GET", f"/v1/trajectories/{recording['trajectory_id']}").json
    steps = trajectory["trajectory_data"]
    outcome.steps, outcome.secrets = ended["steps"], ended["secrets"]
    pictures = sorted(looking.pictures_of(steps))
    pictures = numbers.sample(pictures, min(most_pictures, len(pictures)))
    outcome.pictures = len(pictures)
    for each in pictures:
        content = api.call("GET", f"/v1/pictures/{each}").body
        if those := looking.in_picture(content, canaries):
            outcome.found.setdefault("pictures", set()).update(those)
    outcome.found["canaries"] = {*canaries}
    return outcome


def _search(outcome: Outcome, directory: Path, api: ServedApi) -> None:
    """Look for what was typed wherever it may be kept."""
    canaries = outcome.found.pop("canaries")
    socket = next((directory / "server").rglob("mongod.sock"))
    for found in (
        looking.in_files(directory, canaries),
        looking.in_database(f"mongodb://{quote(str(socket), '')}/?directConnection=true", canaries),
        looking.in_answers(api, canaries),
    ):
        outcome.found.update(found)


def new_canaries(numbers: random.Random, count: int) -> list[str]:
    """Texts that stand nowhere else."""
    letters = string.ascii_lowercase
    return ["".join(numbers.choices(letters, k=LENGTH)) for _ in range(count)]


def _type(place: Place, numbers: random.Random, canary: str) -> None:
    """Go to a field and type in it, in one of the ways there are, with pauses or without."""
    x, y = numbers.choice(place.fields)
    click: dict[str, Any] = {"operation": "mouse.click", "x": x, "y": y}
    typing = {"operation": "keyboard.type", "text": canary}
    keys = {"operation": "keyboard.key", "text": f"{' '.join(canary)} enter"}
    enter = {"operation": "keyboard.key", "text": "enter"}
    match numbers.randrange(4):
        case 0:
            requests: list[list[dict[str, Any]]] = [[click], [typing], [enter]]
        case 1:
            requests = [[click], [keys]]
        case 2:
            requests = [[click, typing, enter]]
        case _:
            half = len(canary) // 2
            parts = [{**typing, "text": part} for part in (canary[:half], canary[half:])]
            requests = [[click], [parts[0]], [parts[1]], [enter]]
    for actions in requests:
        time.sleep(numbers.choice((0, 0.2, LONGEST_PAUSE)))
        if len(actions) == 1:
            body = {**actions[0]}
            operation = body.pop("operation").replace(".", "/")
            answer = place.machine.send(operation, **body)
        else:
            answer = place.machine.act(actions, str(uuid4()))
        assert answer.status == 200, answer.body


@contextmanager
def _events(server: ServerProcess, directory: Path) -> Iterator[None]:
    """Keep whatever events tell meanwhile, beside the logs."""
    with ExitStack() as stack:
        told = stack.enter_context((directory / "events").open("wb"))
        process = subprocess.Popen(
            [
                *("curl", "--silent", "--no-buffer", f"{server.url}/v1/events"),
                *("--header", f"Authorization: Bearer {server.administrators_token()}"),
            ],
            stdout=told,
        )
        try:
            yield
        finally:
            process.kill()
            process.wait()
