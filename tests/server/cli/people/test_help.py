"""``farhand help`` against a real server."""

import json

from farhand import Farhand
from tests.commandline import Served


def test_what_a_program_asks_is_listed_shown_answered_and_withdrawn(served: Served) -> None:
    assert served.run("machine", "add", "desk-of-help").exit_code == 0
    made = served.run("token", "create", "--name", "program", "--role", "agent").stdout.strip()
    with Farhand(served.url, made, trust_env=False) as program:
        asked = program.help.ask("desk-of-help", "Which invoice?")
        own = program.help.ask("desk-of-help", "Never mind.")
        of_machine = ("help", "list", "--machine", "desk-of-help")
        listed = json.loads(served.run(*of_machine, "--state", "open", "--json").stdout)
        assert [each["id"] for each in listed["items"]] == [str(own.id), str(asked.id)]
        wrong = served.run("help", "answer", str(asked.id), "approve")
        assert (wrong.exit_code, "done or cannot" in wrong.stderr) == (1, True)
        told = served.run("help", "answer", str(asked.id), "done", "--comment", "The first.")
        assert (told.exit_code, told.stdout) == (0, "")
        assert program.help.wait(asked.id).comment == "The first."
        again = served.run("help", "answer", str(asked.id), "cannot")
        assert (again.exit_code, "answered it" in again.stderr) == (1, True)
        assert "The first." in served.run("help", "show", str(asked.id)).stdout
        others = served.run("help", "withdraw", str(own.id))
        assert (others.exit_code, "only whoever asks" in others.stderr) == (1, True)
        ended = served.run("help", "withdraw", str(own.id), "--token", made, "--json").stdout
        assert json.loads(ended)["state"] == "withdrawn"
