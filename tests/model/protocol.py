"""The protocol of a command as a model: its rules, which a mutant leaves out one by one.

The model is every state that one key, one machine and two nodes can get into, visited one after
another.  Nothing in it has a clock and nothing is drawn by lot: what can happen next is tried, all
of it, in every order, so that what is never found wrong cannot go wrong within the bounds.

**What happens.**  Clients ask for the key at whichever node and as often as they like, until there
is a final answer.  The machine connects to either node, one link at a time; a link greets, is
counted (the epoch), is judged by its hello, has the journal marked, is settled, and only then
carries input.  A node works on the key for one client at a time, whoever else asks it waits.

Several actions are carried out as one command: each is noted as begun, on disk, before its first
event, and as done after its last; when their link is gone they end, between two of them or in one.

What names an element is looked at again once it is noted: it may be refused then, before its first
event, and so may an action whose text is not there.  That is an end without events, as where it is
too late by then; nothing else is new in them: an element is an event like any other.

Where there is a bus, clients also ask a node that does not hold the link.  It forwards the request
to one that believes to, and relays the answer; a request without a key is asked once, and recorded
only where its end is not known.

**What goes wrong.**  Nodes and the machine client are killed and come back.  A paused process is
one that takes no step for a while; a lease may be over at any time.  Each end of a link gives up
when it pleases and the other notices when it pleases, so a link can be half open, and all that was
not read is lost; within a link order is kept.  A write to the ledger fails, or is made and seems to
fail, or seems to fail and is made later, or is made later though its node was killed.  The
journal's file is replaced by another journal, or by any copy that could have been made of it; the
machine reboots, and what was not flushed is lost; or the disk's image is put back, and boots.
The bus loses, delays, reorders and repeats what is said on it: it may arrive at any later time, as
often as it likes, or never.  Of a command without a key a killed machine client may have forgotten
all.

**What is promised** is in ``properties``; beside it, every state must have a way without faults to
a final record (without a key, every state with a record).  Of several actions the final answer has
each one's result: what is done is a beginning of them, of one at most it is not known, and nothing
of the rest has begun nor ever will.

**What is left out.**  The text of answers and how much was injected at least.  A second node that
counts the same epoch.  Heartbeats, whose marks only let a copy be told that is younger than the
link.  More than one key at once: another command is a message that must not be begun while what
was begun on an older link is open.  Two requests for the key in one node: they would be told apart
by the ledger as two nodes are.  On a bus, a client that waits for what another's forward has begun.
A lifetime's end together with a lost journal: then the key is new.

**The known limit.**  A copy of the journal's file made after the mark and before the INTENT has the
number that the record says, so it is not found out when it is put back.  The configurations make
their copies outside of that span, and a test shows that inside it just this breaks, and that it
does not where the machine boots with the copy.  A copy made while several actions run is not found
out either, with or without a boot: it says that those are not begun which come after it.

**Bounds.**  Each configuration is exhaustive for the faults that it names; what no configuration
puts together (two errors of the store and a copy put back, say) is not checked together.  Where a
step is the same whether it comes now or later, it comes now; such steps say so.  States that differ
in names alone, of the nodes or of attempts, count as one.
"""

from dataclasses import dataclass, field

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
    """A final state is never written over."""
    only_sent_is_finished: bool = True
    """A final state is written over SENT: a claim of the same attempt may have landed again."""
    stored_before_answered: bool = True
    """A final answer is given after it is stored."""
    journal_id_is_compared: bool = True
    """Another journal: everything SENT is UNKNOWN."""
    sequence_is_compared: bool = True
    """A journal whose number went back: everything SENT is UNKNOWN."""
    boot_is_compared: bool = True
    """A machine that was started anew: what its journal does not know is UNKNOWN."""
    mark_is_compared: bool = True
    """A journal without the mark that is known to be SENT after, by its id: that is UNKNOWN."""
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
    begun_mark_before_events: bool = True
    """Of several actions each is noted as begun before its first event."""
    begun_mark_is_flushed: bool = True
    """That is on disk before its first event."""
    done_mark_after_events: bool = True
    """Of several actions each is noted as done after its last event."""
    interrupted_with_link: bool = True
    """Several actions begin nothing more when their link is gone."""
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
    sent_does_not_expire: bool = True
    """Only a final record has a lifetime."""
    journal_outlives_record: bool = True
    """The journal knows an id for longer than the ledger keeps its final record."""
    unsent_is_never_final: bool = True
    """A claim that was in time for nothing is forgotten: the journal may know an earlier end."""
    finish_is_tried_again: bool = True
    """A final state that the store did not confirm is written again."""
    forward_names_its_link: bool = True
    """A forward is for one link, by its epoch, and no other takes it."""
    only_the_named_link_answers: bool = True
    """Whoever does not hold the link that a forward names says nothing about it."""
    refused_forward_is_remembered: bool = True
    """What a node has refused it never takes, however often it is repeated."""
    taken_forward_is_remembered: bool = True
    """What a node has taken it does not take again: a repetition has the same answer."""
    late_forward_is_refused: bool = True
    """A forward whose time is over is not taken; a node may have forgotten it then."""
    unused_is_said_by_all: bool = True
    """"Nothing has happened" is relayed where every link that was asked has said so."""
    unkeyed_goes_to_one_link: bool = True
    """Without a key a request is forwarded to one link, and never to another after it."""
    unkeyed_may_be_forgotten: bool = True
    """Without a key, what the journal does not know is UNKNOWN."""


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
    has_bus: bool = False
    """A node without the link forwards what it is asked; clients are told what became of it."""
    is_keyed: bool = True
    """The command has a key; else it is asked for once, and the journal notes it when it likes."""
    actions: int = 1
    """How many actions the command has, one after another; a result of each where it is several."""
    copies_while_running: bool = False
    """Copies are made between two marks of several actions, too."""
    marks_have_ids: bool = False
    """Marks have ids, as they always do; else they are left out, and their number alone must do."""

    @property
    def counts(self) -> int:
        """By how much the journal's number grows with a write: 0 where it never can go back.

        It could only be compared with itself there; that a journal that is well is never taken for
        an old one is seen in the other configurations, before anything happens to it.
        """
        faults = self.faults
        can_go_back = faults.restores or faults.image_restores or faults.reboots
        return 1 if can_go_back or faults.replacements else 0


@dataclass(frozen=True, slots=True)
class World:
    """What the steps need to know beside the state."""

    configuration: Configuration
    rules: Rules = field(default_factory=Rules)
