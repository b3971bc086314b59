"""Real children: watched, quoted when they fail, and ended in order."""

import os
import signal
from pathlib import Path

import pytest

from server.demo import DemoError
from server.demo import children as children_module
from server.demo.children import Children
from tests.processes import until

SLEEP = ["/bin/sleep", "600"]


def shell(script: str) -> list[str]:
    return ["/bin/sh", "-c", script]


def test_children_end_with_the_block_the_last_first(tmp_path: Path) -> None:
    ends = tmp_path / "ends"
    script = "trap 'echo {0} >> {1}; exit' TERM; echo ready; while :; do sleep 0.01; done"
    with Children(tmp_path / "logs") as children:
        started = [children.start(name, shell(script.format(name, ends))) for name in ("a", "b")]
        children.wait_for(
            lambda: all("ready" in child.output() for child in started), "both ready", started[0]
        )
    assert ends.read_text() == "b\na\n"
    assert all(child.process.poll() == 0 for child in started)


def test_child_that_ignores_the_request_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children_module, "STOP_SECONDS", 0.1)
    with Children(tmp_path) as children:
        child = children.start("deaf", shell("trap '' TERM; echo ready; exec sleep 600"))
        children.wait_for(lambda: "ready" in child.output(), "it is ready", child)
    assert child.process.poll() == -signal.SIGKILL


def test_children_end_when_the_block_fails(tmp_path: Path) -> None:
    started = []

    def fail() -> None:
        with Children(tmp_path) as children:
            started.append(children.start("sleeper", SLEEP))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert started[0].process.poll() is not None


def test_child_that_ends_is_quoted(tmp_path: Path) -> None:
    with Children(tmp_path) as children:
        child = children.start("the child", shell("seq 100; exit 7"))
        with pytest.raises(DemoError) as caught:
            children.wait_for(lambda: None, "what never is", child)
    said = str(caught.value)
    assert said.startswith("the child ended with status 7; the last that it printed:\n    93\n")
    assert said.endswith("    100")
    assert (tmp_path / "the-child.log").exists()


def test_silent_child_is_said_to_be_silent(tmp_path: Path) -> None:
    with Children(tmp_path) as children:
        child = children.start("mute", shell("exit 1"))
        child.process.wait()
        with pytest.raises(DemoError, match="mute ended with status 1; it printed nothing"):
            children.check()


def test_waiting_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children_module, "START_SECONDS", 0.05)
    with Children(tmp_path) as children:
        child = children.start("sleeper", SLEEP)
        with pytest.raises(DemoError, match=r"not within 0.05 s: it wakes; it printed nothing"):
            children.wait_for(lambda: False, "it wakes", child)


def test_children_do_not_inherit_settings_and_proxies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FARHAND_PORT", "1")
    monkeypatch.setenv("DISPLAY", ":99")
    monkeypatch.setenv("NO_PROXY", "example.org")
    with Children(tmp_path) as children:
        child = children.start("env", ["/usr/bin/env"])
        child.process.wait()
        lines = child.output().splitlines()
    assert "no_proxy=*" in lines
    assert not [line for line in lines if line.startswith(("FARHAND_", "DISPLAY=", "NO_PROXY="))]
    assert f"PATH={os.environ['PATH']}" in lines


def test_signals_work_again_after_the_block(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with Children(tmp_path) as children:
        child = children.start("sleeper", SLEEP)
    until(lambda: child.process.poll() is not None, "it ended")
    assert signal.getsignal(signal.SIGTERM) is before
