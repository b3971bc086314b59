"""act.py MACHINE: opens a terminal, waits until it is there, types, and gets the picture."""

import base64
import json
import os
import sys
import urllib.request
import uuid


def act(actions, screenshot=None):
    """Have the machine carry out several actions; returns the answer."""
    url = f"{os.environ['FARHAND_URL']}/v1/computer/{sys.argv[1]}/actions"
    body = json.dumps({"actions": actions, "screenshot": screenshot}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    request.add_header("Authorization", f"Bearer {os.environ['FARHAND_TOKEN']}")
    request.add_header("Idempotency-Key", str(uuid.uuid4()))
    return json.load(urllib.request.urlopen(request, timeout=240))


act(
    [
        {"operation": "keyboard.key", "text": "ctrl+alt+t"},
        {"operation": "wait_for", "any": [{"changed": True}]},
        {"operation": "wait_for", "any": [{"still": 0.5}]},
    ]
)
done = act([{"operation": "keyboard.type", "text": "echo hello\n"}], {"settle": 0.5})
with open("screen.png", "wb") as file:
    file.write(base64.b64decode(done["screenshot"]["content"]))
