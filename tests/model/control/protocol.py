"""The protocol of a control lease as a model: its rules, which a mutant leaves out one by one.

**What happens.**  Two take control of one machine, each once, the second by taking over where the
configuration says so; a program sends without a lease, and each holder with theirs.  The machine
connects several times in a row, to whichever node: a link is opened, counted in the database, found
by others, reads whose the lease is, and carries inputs.  A node's end of a link that the machine
has left stays up until it is noticed, and is asked and believed like any other.  Who takes asks
any link that is up: the node's own that was asked, or another's; so which node it is on need not
be told apart, and a node that is never told of a change is one that reads it when it looks.

**What goes wrong.**  Each end of a link gives up when it pleases and the other notices when it
pleases; what was not read is lost, and within a link order is kept.  A read of the database takes
its time, and what it brings may be old by then.  Somebody who waits for a confirmation stops
waiting when they please; or their node is killed, and they are never answered.  A lease runs out,
whenever it was taken.  The machine client is killed.

**What is promised** is in ``properties``.

**What is left out.**  Clocks, renewing (a lease lives until it runs out), the ledger, pauses,
failures of the database beyond those of a node that was killed.  That the running input is ended
early: it may end when it pleases, and nothing waits for less.  Two machine clients with one token.
"""

from dataclasses import dataclass, field

from tests.model.control.state import Faults


@dataclass(frozen=True, slots=True)
class Rules:
    """Every rule, kept unless it is named; the words say what is done while it is kept."""

    confirmed_before_answered: bool = True
    """201 is answered when no interrupt of the link is open."""
    lost_link_confirms_nothing: bool = True
    """Where the link is over, nothing is confirmed."""
    epoch_is_compared: bool = True
    """No link confirms that is older than the newest of when the lease was stored."""
    proof_is_compared: bool = True
    """The link that confirms knows of this very lease then."""
    taker_reads: bool = True
    """Who takes has the link read the lease anew."""
    unconfirmed_is_ended: bool = True
    """A lease that nobody confirmed is ended in the database."""
    ending_compares_proof: bool = True
    """Whoever ends a lease ends theirs."""
    take_is_conditional: bool = True
    """A lease in force is replaced by who takes over, and by nobody else."""
    run_out_is_ended: bool = True
    """A lease that has run out is ended in the database."""
    beginning_interrupts: bool = True
    """Where a lease begins, the machine is interrupted."""
    end_interrupts: bool = True
    """Where a lease ends and no other begins, the machine is interrupted."""
    new_link_reads: bool = True
    """A link carries inputs when it has read whose the lease is."""
    read_after_counted: bool = True
    """It reads when it is counted in the database."""
    read_when_found: bool = True
    """It reads when others can find it."""
    links_look: bool = True
    """A link looks now and then whose the lease is, whether it was told or not."""
    one_read_at_a_time: bool = True
    """A link begins no read before the one before has brought its answer."""
    checked_when_sent: bool = True
    """Whose input it is is checked when it is sent, not only when its slot is reserved."""
    one_link_is_heard: bool = True
    """The machine hears one link, the newest."""
    queue_ends_with_link: bool = True
    """What waits in the machine is forgotten with the link it came on."""
    interrupt_empties_queue: bool = True
    """What waits when an interrupt comes is never begun."""
    interrupt_releases: bool = True
    """What is held is released before an interrupt is confirmed."""
    interrupt_waits_for_running: bool = True
    """What runs has ended before an interrupt is confirmed."""
    confirmation_is_named: bool = True
    """A confirmation is of the one interrupt that it names."""
    lost_link_releases: bool = True
    """Without its link the machine releases what is held."""
    killed_is_released: bool = True
    """What a killed client left pressed is released before the next one connects."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What may come, how often."""

    name: str
    left: Faults
    has_two_takers: bool = True
    """Whether Bob takes control as well as Ada."""
    has_begun: bool = False
    """Whether Ada has control in the beginning."""
    takes_over: bool = True
    """Whether Bob takes over; else he takes what is free."""


@dataclass(frozen=True, slots=True)
class World:
    """What the steps need to know beside the state."""

    configuration: Configuration
    rules: Rules = field(default_factory=Rules)
