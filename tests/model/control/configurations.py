"""What the protocol of control is checked against, and where each of its rules is missed."""

from tests.model.control.protocol import Configuration
from tests.model.control.state import Faults


def _one_taker(name: str, left: Faults) -> Configuration:
    return Configuration(name, left, has_two_takers=False)


_TWO_INPUTS = _one_taker("two inputs of a program, a new link", Faults(links=1, inputs=(2, 0, 0)))
_KILL = _one_taker(
    "an input of a program, a kill of the client, a new link",
    Faults(links=1, inputs=(1, 0, 0), kills=1),
)

NEW_LINK = _one_taker("an input of a program, a new link", Faults(links=1, inputs=(1, 0, 0)))
"""A small one, with all that the rules are about which others cover."""

CONFIGURATIONS = (
    _TWO_INPUTS,
    Configuration("each of three sends", Faults(inputs=(1, 1, 1))),
    Configuration(
        "Ada has control, and Bob takes over; both send, a new link",
        Faults(links=1, inputs=(0, 1, 1)),
        has_begun=True,
    ),
    Configuration(
        "nobody takes over, a lease runs out",
        Faults(inputs=(0, 1, 1), run_outs=1),
        takes_over=False,
    ),
    _KILL,
    _one_taker(
        "an input of Ada, kills of the client and of a node, a lease runs out, a new link",
        Faults(links=1, inputs=(0, 1, 0), run_outs=1, kills=1, node_kills=1),
    ),
)

_PROGRAM = _one_taker("an input of a program", Faults(inputs=(1, 0, 0)))
_PROGRAM_TWICE = _one_taker("two inputs of a program", Faults(inputs=(2, 0, 0)))
_ADA = _one_taker("an input of Ada", Faults(inputs=(0, 1, 0)))
_ADA_TWICE = _one_taker("two inputs of Ada", Faults(inputs=(0, 2, 0)))
_RUN_OUT = _one_taker("a lease runs out", Faults(run_outs=1))
_BOTH = Configuration("two take, an input of a program", Faults(inputs=(1, 0, 0)))
_HANDED_OVER = Configuration(
    "Ada has control, and Bob takes over; an input of a program",
    Faults(inputs=(1, 0, 0)),
    has_begun=True,
)

_RUNS = "an input of a program without a lease runs, and "
_HOLDS = "a program without a lease holds something, and Ada has control"
_STAYS = "Ada has no lease any more, and holds something"

MUTANTS = {
    "confirmed_before_answered": (_PROGRAM, _RUNS),
    "lost_link_confirms_nothing": (_PROGRAM, _RUNS),
    "unconfirmed_is_ended": (_PROGRAM, "Ada was refused, and has the lease"),
    "ending_compares_proof": (_BOTH, _RUNS),
    "take_is_conditional": (
        Configuration("nobody takes over", Faults(inputs=(0, 1, 1)), takes_over=False),
        "and Ada has control",
    ),
    "run_out_is_ended": (_RUN_OUT, "the lease of Ada has run out, and stands"),
    "beginning_interrupts": (_PROGRAM, _RUNS),
    "end_interrupts": (_ADA, _STAYS),
    "new_link_reads": (_KILL, _RUNS),
    "links_look": (_ADA, _STAYS),
    "one_read_at_a_time": (_HANDED_OVER, _RUNS),
    "checked_when_sent": (_PROGRAM, _RUNS),
    "one_link_is_heard": (_ADA, _STAYS),
    "queue_ends_with_link": (_ADA_TWICE, _STAYS),
    "interrupt_empties_queue": (_PROGRAM_TWICE, _RUNS),
    "interrupt_releases": (_PROGRAM, _HOLDS),
    "interrupt_waits_for_running": (_PROGRAM, _RUNS),
    "confirmation_is_named": (_HANDED_OVER, _RUNS),
    "lost_link_releases": (_ADA, _STAYS),
    "killed_is_released": (_KILL, _HOLDS),
}
"""Every rule: a small configuration in which it is missed, and the promise that breaks first."""

PAIRS = {("taker_reads", "proof_is_compared"): (_HANDED_OVER, _RUNS)}
"""Rules either of which is enough: what is missed without both."""

COVERED = {
    "epoch_is_compared": (
        "The machine confirms on its newest link alone.  What it is asked to confirm was said when "
        "the lease was stored, so it opens every later link after that, and that link reads the "
        "lease.  It is for two machine clients with one token, who both would confirm."
    ),
    "read_after_counted": (
        "A link reads after the machine has opened it, and that it does after it has confirmed "
        "on the link before: what was taken since is confirmed on no other link than this."
    ),
    "read_when_found": (
        "The same; and who asks the link has it read again.  A pause, which nobody confirms, "
        "needs it."
    ),
}
"""Rules that the others cover, and why: a second lock on a door."""
