"""``farhand pool`` and what goes with it, against a real server."""

import json
from typing import Any
from uuid import uuid4

from tests.commandline import Served


def new_machine(served: Served) -> str:
    machine_id = f"desk-{uuid4().hex[:8]}"
    assert served.run("machine", "add", machine_id).exit_code == 0
    return machine_id


def listed(served: Served, *options: str) -> list[dict[str, Any]]:
    result = served.run("machine", "list", "--json", *options)
    assert result.exit_code == 0, result.stderr
    items: list[dict[str, Any]] = json.loads(result.stdout)["items"]
    return items


def test_pool_is_made_filled_renamed_and_removed(served: Served) -> None:
    name, machine_id = f"Berlin {uuid4()}", new_machine(served)
    made = served.run("pool", "add", name, "--description", "the tills")
    assert made.exit_code == 0
    assert served.run("pool", "put", name, machine_id).exit_code == 0
    pools = json.loads(served.run("pool", "list", "--json").stdout)["items"]
    (pool,) = [each for each in pools if each["id"] == made.stdout.strip()]
    assert (pool["name"], pool["machines"]) == (name, 1)
    assert name in served.run("machine", "show", machine_id).stdout
    new = f"Potsdam {uuid4()}"
    assert served.run("pool", "rename", name, new).exit_code == 0
    assert [each["id"] for each in listed(served, "--pool", new)] == [machine_id]
    assert served.run("pool", "take", pool["id"], machine_id).exit_code == 0
    assert listed(served, "--pool", new) == []
    assert served.run("pool", "remove", new).exit_code == 0
    gone = served.run("machine", "list", "--pool", new)
    assert gone.exit_code == 1
    assert f"--pool: there is no pool {new}" in gone.stderr


def test_what_cannot_be_done_is_said_of_each_machine(served: Served) -> None:
    name, machine_id = f"Berlin {uuid4()}", new_machine(served)
    refused = served.run("pool", "put", name, machine_id)
    assert (refused.exit_code, refused.stderr) == (
        1,
        f"Error: there is no pool {name}: farhand pool add makes one\n",
    )
    served.run("pool", "add", name)
    result = served.run("pool", "put", name, machine_id, "nowhere")
    assert (result.exit_code, result.stderr) == (1, "nowhere: there is no machine 'nowhere'\n")
    assert len(listed(served, "--pool", name)) == 1


def test_machine_is_tagged_untagged_and_found(served: Served) -> None:
    machine_id, word = new_machine(served), f"till-{uuid4().hex[:8]}"
    assert served.run("machine", "tag", machine_id, word, "spare").exit_code == 0
    assert served.run("machine", "untag", machine_id, "spare").exit_code == 0
    for options in (("--tag", word), ("--search", f"{word} never"), ("--tag", f"x,{word}")):
        (found,) = listed(served, *options, "--state", "offline", "--sort", "-name")
        assert (found["id"], found["tags"]) == (machine_id, [word])
    assert served.run("machine", "tag", machine_id, "two words").exit_code == 1
    wrong = served.run("machine", "list", "--sort", "reason")
    assert wrong.exit_code == 1
    assert "--sort" in wrong.stderr
    assert served.run("machine", "list", "--watch", "--tag", word).exit_code == 2


def test_machine_and_invitation_get_tags_and_pools(served: Served) -> None:
    name, machine_id = f"Berlin {uuid4()}", f"desk-{uuid4().hex[:8]}"
    served.run("pool", "add", name)
    options = ("--tag", "a", "--tag", "b", "--pool", name)
    assert served.run("machine", "add", machine_id, *options).exit_code == 0
    (found,) = listed(served, "--pool", name)
    assert (found["id"], found["tags"]) == (machine_id, ["a", "b"])
    made = json.loads(served.run("invitation", "create", *options, "--json").stdout)
    assert (made["tags"], [each["name"] for each in made["pools"]]) == (["a", "b"], [name])
