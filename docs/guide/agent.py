"""agent.py MACHINE GOAL RUN: looks, decides and acts until the goal is reached."""

import http.client
import json
import os
import struct
import sys
import time
import urllib.error
import urllib.request

URL = os.environ["FARHAND_URL"].rstrip("/")
TOKEN = os.environ["FARHAND_TOKEN"]
PATIENCE = 900  # seconds for one request, with all its tries
MOST_STEPS = 50


def decide(goal, picture, history):
    """What to do next as (operation, body), or None at the end: this is where your model goes.

    ``picture`` is a PNG of the screen now, whose pixels are the inputs' own.  ``history`` has what
    was done so far, each with the status and the body that it was answered with.
    """
    width, height = struct.unpack(">II", picture[16:24])
    plan = [
        ("mouse/click", {"x": width // 2, "y": height // 2}),
        ("keyboard/type", {"text": goal}),
        ("keyboard/key", {"text": "enter"}),
    ]
    return plan[len(history)] if len(history) < len(plan) else None


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # whoever redirects is not Farhand, and must not get the token


OPENER = urllib.request.build_opener(NoRedirects)


def attempt(method, path, body, key):
    """The status, the headers and the body of an answer, or None where none came."""
    request = urllib.request.Request(URL + path, method=method)
    request.add_header("Authorization", f"Bearer {TOKEN}")
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    if key is not None:
        request.add_header("Idempotency-Key", key)
    try:
        try:
            answer = OPENER.open(request, timeout=240)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            return answer.status, answer.headers, answer.read()
    except (OSError, http.client.HTTPException):
        return None


def is_final(status, headers, body):
    """Whether asking again would change nothing."""
    if status == 409:
        return headers.get("Idempotency-Status") != "in_progress"
    if status < 500:
        return status != 429
    ours = headers.get("Content-Type", "").startswith("application/problem+json")
    return ours and json.loads(body).get("final", False)  # else it is a proxy's own page


def ask(method, path, body=None, key=None):
    """The final status and body; asks again, with the same key, until there are such."""
    give_up_at = time.monotonic() + PATIENCE
    while True:
        answer = attempt(method, path, body, key)
        if answer is not None and is_final(*answer):
            status, _, content = answer
            if status in (301, 302, 307, 308, 401, 403, 404, 413, 415):
                sys.exit(
                    f"{method} {path} was answered {status}: {content.decode(errors='replace')}"
                )
            return status, content
        wait = "1" if answer is None else answer[1].get("Retry-After", "1")
        pause = int(wait) if wait.isdigit() else 1
        if time.monotonic() + pause > give_up_at:
            sys.exit(
                f"{method} {path} had no final answer in {PATIENCE} s; start this run again later"
            )
        time.sleep(pause)


def look(machine):
    """The screen as it is now."""
    status, picture = ask("GET", f"/v1/computer/{machine}/display/screenshot")
    if status != 200:
        sys.exit(f"no screenshot: {status} {picture.decode(errors='replace')}")
    return picture


def act(machine, run, number, operation, body):
    """Do one thing, at most once: the key says which of which run it is."""
    key = f"{os.path.basename(run)}-{number}"
    return ask("POST", f"/v1/computer/{machine}/input/{operation}", body, key)


def main(machine, goal, run):
    # What was decided is kept before it is done.  A run that is started again sends the same with
    # the same keys, gets the first answers, and goes on where it was: nothing is done twice.
    with os.fdopen(
        os.open(f"{run}.jsonl", os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "r+"
    ) as file:
        lines = [line for line in file if line.endswith("\n")]
        file.truncate(sum(map(len, lines)))  # half a line was never acted on
        decided = [json.loads(line) for line in lines]
        history = []
        while len(history) < MOST_STEPS:
            if len(history) == len(decided):
                step = decide(goal, look(machine), history)
                if step is None:
                    print(f"done in {len(history)} steps")
                    return
                decided.append(step)
                file.write(json.dumps(step) + "\n")
                file.flush()
                os.fsync(file.fileno())
            operation, body = decided[len(history)]
            status, answer = act(machine, run, len(history), operation, body)
            # Whether it was done (200), refused (422), came too late (503, 504) or nobody knows
            # (502): the next look at the screen shows it, and the model is told.
            history.append((operation, body, status, answer))
            print(len(history), operation, status)
    sys.exit(f"not done after {MOST_STEPS} steps")


if __name__ == "__main__":
    main(*sys.argv[1:])
