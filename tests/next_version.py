"""A next version of Farhand, which exists in tests alone: today's programs, and what it adds.

``python -m tests.next_version farhand serve …``, or ``… farhand-machine join …``.  All that it says
and stores has a mood.  Of the link it speaks protocol 2, and 1 with whoever knows no other; its
schema is 2, and today's Farhand may work beside it.
"""

import logging
import sys
from functools import reduce
from importlib import import_module
from operator import or_
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field, TypeAdapter
from pydantic_core import from_json, to_json

from schemas.link import messages as link
from schemas.link.message import Message

MOOD = "fine"
PROGRAMS = {"farhand": "server.__main__", "farhand-machine": "machine_client.__main__"}

logger = logging.getLogger(__name__)


class Hello(link.Hello):
    """With a field that protocol 1 lacks."""

    mood: str | None = None


class Welcome(link.Welcome):
    """With a field that protocol 1 lacks, said to everybody."""

    mood: str = MOOD


class Mood(Message):
    """What protocol 1 has no word for; a machine client says it after its ready."""

    since: ClassVar[int] = 2
    type: Literal["mood"] = "mood"
    mood: str


def change_link() -> None:
    """Before anybody takes anything out of the module."""
    kinds = tuple(Hello if kind is link.Hello else kind for kind in get_args(link.AnyClientMessage))
    known: Any = link
    known.PROTOCOLS = (1, 2)
    known.Hello = Hello
    either: Any = reduce(or_, kinds, Mood)
    known.CLIENT_MESSAGES = TypeAdapter(Annotated[either, Field(discriminator="type")])


def change_client() -> None:
    """It tells its mood in the hello, and again where the server has a word for it."""
    session: Any = import_module("machine_client.link.session")
    events: Any = import_module("machine_client.link.events")
    greet, welcomed = session.Session._greet, session.Session._welcomed

    def greeted(self: Any, hello: Hello) -> list[Any]:
        effects: list[Any] = greet(self, hello.model_copy(update={"mood": MOOD}))
        return effects

    def told(self: Any, welcome: Welcome) -> list[Any]:
        said = [events.SendMessage(Mood(mood=MOOD))] if welcome.protocol >= Mood.since else []
        return [*welcomed(self, welcome), *said]

    session.Session._greet, session.Session._welcomed = greeted, told


def change_server() -> None:
    """It hears of moods, and gives one to all that is stored without."""
    link_module: Any = import_module("server.machines.link.link")
    greeting: Any = import_module("server.machines.link.greeting")
    migrations: Any = import_module("server.store.mongodb.migrations")
    received = link_module.Link._received

    def heard(self: Any, message: Any) -> list[Any]:
        if isinstance(message, Hello):
            logger.info("the hello of %s has the mood %s", self.machine_id, message.mood)
        if not isinstance(message, Mood) or message.since > self.protocol:
            effects: list[Any] = received(self, message)
            return effects
        logger.info("%s is %s under protocol %d", self.machine_id, message.mood, self.protocol)
        return []

    async def give_a_mood(collections: Any) -> None:
        for name in await collections.list_collection_names():
            await collections[name].update_many({}, {"$set": {"mood": MOOD}})

    link_module.Link._received, greeting.Welcome = heard, Welcome
    migrations.SCHEMA_VERSION, migrations.STEPS = 2, {2: give_a_mood}


def change_bus() -> None:
    """What its nodes say to others has a mood."""
    question: Any = import_module("server.dispatch.questions.question")
    encode = question.encode

    def encoded(message: Any) -> bytes:
        text, line_feed, content = encode(message).partition(b"\n")
        return b"".join((to_json({**from_json(text), "mood": MOOD}), line_feed, content))

    question.encode = encoded


if __name__ == "__main__":
    program = sys.argv.pop(1)
    change_link()
    if program == "farhand":
        change_server()
        change_bus()
    else:
        change_client()
    import_module(PROGRAMS[program]).main()
