"""Stand-ins for the services of models' vendors: they answer scripted turns, over HTTP.

Each refuses with 400 what the real one refuses: a call that has no result, a result of another
call, a safety check that nobody has acknowledged.  The SDKs that talk to them are the real ones.
"""

import base64
import contextlib
import io
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from PIL import Image

Json = dict[str, Any]
Call = tuple[str, Mapping[str, Any]]
"""A name and arguments, as the vendor has them."""
DONE = "All of it is done."


@dataclass(frozen=True)
class Told:
    """What a model was told of one of its calls."""

    text: str = ""
    size: tuple[int, int] | None = None
    """Of the picture that it was shown."""
    is_error: bool = False


class RefusedByServiceError(Exception):
    """The service does not take a request."""


class StandIn:
    """A service that wants these turns, one after another, and then has nothing more to say."""

    path_of_url: ClassVar[str] = ""

    def __init__(self, turns: Sequence[Sequence[Call]]) -> None:
        self.requests: list[Json] = []
        self.told: list[list[Told]] = []
        """Of each turn that was answered: what the model was told of each call."""
        self.on_request: Callable[[], None] = lambda: None
        self._turns = [list(turn) for turn in turns]
        self._asked: list[tuple[str, Call]] = []
        """The calls of the turn that waits for its results, each with its id."""

    @contextlib.contextmanager
    def running(self) -> Iterator[str]:
        """Serve; yields the URL for the SDK."""
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, answer = stand_in.post(body)
                content = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}{self.path_of_url}"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def post(self, body: Json) -> tuple[int, Json]:
        """Answer a request with the next turn."""
        self.requests.append(body)
        self.on_request()
        try:
            if self._asked:
                self.told.append(self._results(body))
        except (RefusedByServiceError, KeyError, TypeError, ValueError) as error:
            return 400, {"error": {"message": f"{type(error).__name__}: {error}", "code": 400}}
        number = len(self.requests)
        turn = self._turns.pop(0) if self._turns else []
        self._asked = [(f"call_{number}_{place}", call) for place, call in enumerate(turn)]
        return 200, self._turn(number)

    def _results(self, body: Json) -> list[Told]:
        """What the request says of each call that was asked for.  Raises RefusedByServiceError."""
        raise NotImplementedError

    def _turn(self, number: int) -> Json:
        """The answer that asks for the calls, or says that there are no more."""
        raise NotImplementedError


class Anthropic(StandIn):
    """The Messages API, with the computer toolset."""

    toolset: ClassVar[str | None] = "computer"

    def _results(self, body: Json) -> list[Told]:
        results = {each["tool_use_id"]: each for each in body["messages"][-1]["content"]}
        if list(results) != [identity for identity, _ in self._asked]:
            raise RefusedByServiceError("each tool_use must have its tool_result")
        if any(each.get("toolset_name") != self.toolset for each in results.values()):
            raise RefusedByServiceError("a tool_result has another toolset_name than its tool_use")
        return [self._told(each) for each in results.values()]

    def _told(self, result: Json) -> Told:
        content = result["content"]
        blocks: list[Json] = (
            [{"type": "text", "text": content}] if isinstance(content, str) else content
        )
        text = " ".join(each["text"] for each in blocks if each["type"] == "text")
        sources = [each["source"] for each in blocks if each["type"] == "image"]
        size = _size(sources[0]["data"], sources[0]["media_type"]) if sources else None
        return Told(text, size, is_error=result.get("is_error", False))

    def _turn(self, number: int) -> Json:
        calls = [self._call(identity, *call) for identity, call in self._asked]
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": "stand-in",
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
            "content": calls or [{"type": "text", "text": DONE}],
        }

    def _call(self, identity: str, name: str, arguments: Mapping[str, Any]) -> Json:
        call = {"type": "tool_use", "id": identity, "name": name, "input": {**arguments}}
        return {**call, "toolset_name": self.toolset}


class Anthropic20251124(Anthropic):
    """The Messages API, with the computer tool before the toolset."""

    toolset = None

    def _call(self, identity: str, name: str, arguments: Mapping[str, Any]) -> Json:
        given = {"action": name, **arguments}
        return {"type": "tool_use", "id": identity, "name": "computer", "input": given}


class OpenAI(StandIn):
    """The Responses API: a turn is one call with several actions."""

    path_of_url = "/v1"

    def __init__(self, turns: Sequence[Sequence[Call]], checks: Sequence[Json] = ()) -> None:
        super().__init__(turns)
        self._checks = list(checks)
        """The safety checks of the first turn."""

    def _results(self, body: Json) -> list[Told]:
        output, *others = body["input"]
        before = len(self.requests) - 1
        if body["previous_response_id"] != f"resp_{before}":
            raise RefusedByServiceError("it is the response to another one")
        if (output["type"], output["call_id"]) != ("computer_call_output", f"call_{before}"):
            raise RefusedByServiceError(f"No tool output found for computer call call_{before}")
        known = [each["id"] for each in output.get("acknowledged_safety_checks", [])]
        if before == 1 and known != [each["id"] for each in self._checks]:
            raise RefusedByServiceError("a pending safety check was not acknowledged")
        head, _, data = output["output"]["image_url"].partition(",")
        picture = _size(data, head.removeprefix("data:").removesuffix(";base64"))
        texts = [part["text"] for each in others for part in each["content"]]
        return [Told("\n".join(texts), picture, is_error=bool(texts))]

    def _turn(self, number: int) -> Json:
        actions = [{"type": name, **arguments} for _, (name, arguments) in self._asked]
        call = {
            "type": "computer_call",
            "id": f"cu_{number}",
            "call_id": f"call_{number}",
            "status": "completed",
            "pending_safety_checks": self._checks if number == 1 else [],
            "actions": actions,
        }
        text = {"type": "output_text", "text": DONE, "annotations": []}
        message = {"type": "message", "id": f"msg_{number}", "role": "assistant"}
        return {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 0,
            "status": "completed",
            "model": "stand-in",
            "output": [call] if actions else [message | {"status": "completed", "content": [text]}],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }


class Gemini(StandIn):
    """generateContent of the Gemini API."""

    def _results(self, body: Json) -> list[Told]:
        results = [part["functionResponse"] for part in body["contents"][-1]["parts"]]
        answered = [(each["id"], each["name"]) for each in results]
        if answered != [(identity, name) for identity, (name, _) in self._asked]:
            raise RefusedByServiceError("each function call must have its response")
        for result, (_, (_, arguments)) in zip(results, self._asked, strict=True):
            if "safety_decision" in arguments and not result["response"].get(
                "safety_acknowledgement"
            ):
                raise RefusedByServiceError("a safety decision was not acknowledged")
        return [self._told(each) for each in results]

    def _told(self, result: Json) -> Told:
        # The service takes names of both kinds, and the SDK sends these.
        shown = [part["inline_data"] for part in result.get("parts", [])]
        data = [each["data"].translate(str.maketrans("-_", "+/")) for each in shown]
        size = _size(data[0], shown[0]["mime_type"]) if shown else None
        said = result["response"]
        return Told(said.get("error", said.get("output", "")), size, is_error="error" in said)

    def _turn(self, number: int) -> Json:
        calls = [
            {"functionCall": {"id": identity, "name": name, "args": {**arguments}}}
            for identity, (name, arguments) in self._asked
        ]
        parts: list[Json] = [*calls] or [{"text": DONE}]
        content = {"role": "model", "parts": parts}
        return {"candidates": [{"content": content, "finishReason": "STOP"}]}


def _size(data: str, media_type: str) -> tuple[int, int]:
    """The size of a picture.  Raises RefusedByServiceError where it is not as it is said to be."""
    if media_type != "image/png":
        raise RefusedByServiceError(f"{media_type} was not agreed")
    with Image.open(io.BytesIO(base64.b64decode(data, validate=True))) as picture:
        picture.load()
        if picture.format != "PNG":
            raise RefusedByServiceError("the picture is no PNG")
        return picture.size
