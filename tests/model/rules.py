"""The rules of the protocol, each of which a mutant leaves out, and what a configuration allows."""

from dataclasses import dataclass

from tests.model.state import Faults


@dataclass(frozen=True, slots=True)
class Rules:
    """Every rule, kept unless it is named; the words say what is done while it is kept."""

    claim_is_unique: bool = True
    """A claim is an insert: it changes nothing where there is a record."""
    claim_is_known_by_attempt: bool = True
    """After AlreadyExists only a record of one's own attempt is one's own."""
    mark_sent_compares: bool = True
    """CLAIMED becomes SENT by compare-and-set on attempt and state."""
    takeover_compares: bool = True
    """A claim is taken over by compare-and-set on the old attempt and CLAIMED."""
    sent_before_bytes: bool = True
    """The record says SENT before the input leaves."""
    sent_is_never_sent_again: bool = True
    """What is found SENT is asked about."""
    only_unsent_is_forgotten: bool = True
    """A node deletes its record only where it knows that nothing left."""
    forgetting_compares_attempt: bool = True
    """It deletes the record of its own attempt."""
    forgetting_compares_state: bool = True
    """It deletes an open record."""
    finish_compares_attempt: bool = True
    """A final state is written to the attempt that it belongs to."""
    first_final_state_wins: bool = True
    """A final state is written over an open one only."""
    stored_before_answered: bool = True
    """A final answer is given after it is stored."""
    journal_id_is_compared: bool = True
    """Another journal: everything SENT is UNKNOWN."""
    sequence_is_compared: bool = True
    """A journal whose number went back: everything SENT is UNKNOWN."""
    boot_is_compared: bool = True
    """A machine that was started anew: everything SENT is UNKNOWN."""
    epoch_is_compared: bool = True
    """A link judges and resolves only what was sent on links before it."""
    judged_after_ready: bool = True
    """A link judges nothing before the machine has shown that it still listens to it."""
    judged_before_mark: bool = True
    """All that is UNKNOWN by the hello is stored before anything raises the journal's number."""
    marked_before_input: bool = True
    """The journal's number is raised on each link, and known to the server, before any input."""
    settled_before_new: bool = True
    """What was sent before is final before anything new is sent."""
    old_links_are_refused: bool = True
    """The machine hears one link, the newest."""
    intent_before_events: bool = True
    """INTENT is in the journal before the first event."""
    intent_is_flushed: bool = True
    """INTENT is on disk before the first event."""
    done_after_events: bool = True
    """DONE is written after the last event."""
    done_is_answered_from_journal: bool = True
    """An input whose id is DONE is answered with the outcome of then."""
    intent_is_never_injected: bool = True
    """An input whose id has an INTENT is not injected."""
    tombstone_is_never_injected: bool = True
    """An input whose id has a TOMBSTONE is not injected."""
    tombstone_before_never: bool = True
    """"Never" is said after the TOMBSTONE is written."""
    tombstone_is_flushed: bool = True
    """"Never" is said after the TOMBSTONE is on disk."""
    running_is_reported_running: bool = True
    """An INTENT that is being carried out is no unknown outcome."""
    journal_before_lateness: bool = True
    """A late input is looked up before it is called expired."""
    queue_is_left_by_the_asked: bool = True
    """What is asked about leaves the queue."""
    queue_ends_with_link: bool = True
    """What waits when a link ends is dropped."""
    finish_is_tried_again: bool = True
    """A final state that the store did not confirm is written again."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """Which faults come, how often, and what else may happen."""

    name: str
    faults: Faults
    has_deadlines: bool = False
    """An input may be too late when its turn comes."""
    claims_while_settling: bool = True
    """A node claims before its link has settled; else it claims what it can send at once."""
    copies_while_up: bool = False
    """Copies of the journal are made at any moment, also after the mark and before the INTENT."""


@dataclass(frozen=True, slots=True)
class World:
    """What the steps need to know beside the state."""

    configuration: Configuration
    rules: Rules = Rules()  # noqa: RUF009 (frozen)
