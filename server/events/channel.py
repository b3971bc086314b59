"""The events of one organization: the newest of them, and who hears them."""

from collections import deque

from server.events.event import Event, Subscription


class Channel:
    """The events of one organization, numbered without gaps.

    ``newest`` is the number of the last one; ``history`` has it and what came before it, as far as
    that is known.  ``tag`` is part of each event's id: no id of another channel has the same.
    ``subscribing`` is how many are just about to subscribe.
    """

    def __init__(self, tag: str, history: int) -> None:
        self.tag = tag
        self.newest = 0
        self.history: deque[Event] = deque(maxlen=history)
        self.subscribers: set[Subscription] = set()
        self.subscribing = 0

    @property
    def known_after(self) -> int:
        """What happened after this number is in the history."""
        return self.newest - len(self.history)

    def number_in(self, event_id: str) -> int | None:
        """The number of the event that has this id; None where it is none of this channel."""
        tag, _, number = event_id.partition("-")
        return int(number) if tag == self.tag and number.isdecimal() else None

    def since(self, number: int) -> list[Event] | None:
        """What happened after this number; None where that is not known."""
        if not self.known_after <= number <= self.newest:
            return None
        return list(self.history)[number - self.known_after :]

    async def catch_up(self) -> None:
        """Learn what happened elsewhere: nothing, where all of it happens here."""

    async def missed_since(self, number: int) -> list[Event] | None:
        """What happened after this number, on whichever node; None where that is not known."""
        return self.since(number)

    def tell(self, event: Event) -> int:
        """Add the next event; how many subscribers were too slow for it."""
        self.newest = event.number
        self.history.append(event)
        return self.put(event)

    def put(self, event: Event) -> int:
        """Give an event to who is here now; how many were too slow for it."""
        dropped = 0
        for subscription in tuple(self.subscribers):
            subscription.put(event)
            dropped += subscription.is_dropped
        return dropped

    def subscribe(self, subscription: Subscription, missed: list[Event] | None) -> None:
        """Let somebody hear what comes, and first what was missed; None where it is not known."""
        if missed is None:
            subscription.must_reset = True
        else:
            subscription.last_number -= len(missed)
            for event in missed:
                subscription.put(event)
        if not subscription.is_closed:
            self.subscribers.add(subscription)
