"""agent.py MACHINE GOAL RUN: looks, decides and acts until the goal is reached."""

import sys

from farhand import Farhand, Refused, actions


def decide(goal, picture, history):
    """The next action, or None at the end: your model goes here, and sees picture.data, a PNG."""
    plan = [
        actions.click(picture.width // 2, picture.height // 2),
        actions.type(goal),
        actions.key("enter"),
    ]
    return plan[len(history)] if len(history) < len(plan) else None


machine, goal, run = sys.argv[1:]
with Farhand() as farhand, farhand.session(run, file=f"{run}.session") as session:
    desk, history = session.machine(machine), []
    while action := session.once(lambda: decide(goal, desk.screenshot(), history)):
        try:
            history.append((action, desk.do(action).status))
        except Refused as error:
            if not error.final:
                raise  # the machine is away: start the run again, and it goes on here
            history.append((action, str(error)))
        print(len(history), action["operation"], history[-1][1])
print(f"done in {len(history)} steps")
