"""What the whole protocol is checked against, and where each of its rules is missed.

Together the configurations cover: two kills of nodes with two of the machine client; every pair of
a kill, a cut and an error of the store; two cuts; two errors of the store; and each thing that
befalls the journal together with a cut, a copy that is put back also with kills of the client and
with an error of the store.  None covers three different faults but those named.  With a bus
between the nodes they cover a kill of a node, a kill of the client, a cut and an error of the
store, each alone; without a key also two kills of the client, and a kill of a node with an error of
the store.  With several actions in the command they cover what befalls the machine: a kill of the
client with one of a node, a cut or a copy that is put back, and a reboot with a cut or 24 hours.
"""

from tests.model.protocol import Configuration
from tests.model.state import Faults


def _with_key(
    name: str, faults: Faults, *, has_deadlines: bool = False, claims_while_settling: bool = False
) -> Configuration:
    return Configuration(
        f"forwarded: {name}",
        faults,
        has_deadlines=has_deadlines,
        claims_while_settling=claims_while_settling,
        has_bus=True,
    )


def _at_once(name: str, faults: Faults, **options: bool) -> Configuration:
    """One in which nodes claim what they can send at once."""
    return Configuration(name, faults, claims_while_settling=False, **options)


def _without_key(name: str, faults: Faults, *, has_deadlines: bool = False) -> Configuration:
    return _at_once(
        f"forwarded, without a key: {name}",
        faults,
        has_deadlines=has_deadlines,
        has_bus=True,
        is_keyed=False,
    )


def _several(name: str, faults: Faults, *, actions: int = 2, **options: bool) -> Configuration:
    return Configuration(
        f"{actions} actions: {name}",
        faults,
        claims_while_settling=False,
        actions=actions,
        **options,
    )


TWO_BRANCHES = _at_once(
    "copies put back twice, of two branches", Faults(restores=2), marks_have_ids=True
)

BUS_CONFIGURATIONS = (
    _with_key("a cut, deadlines", Faults(asks=1, cuts=1), has_deadlines=True),
    _with_key(
        "a kill of a node, claims that wait",
        Faults(asks=1, node_kills=1),
        claims_while_settling=True,
    ),
    _with_key("a kill of the client", Faults(asks=1, machine_kills=1)),
    _with_key("two requests, a kill of a node", Faults(asks=2, node_kills=1)),
    _with_key("a store error", Faults(asks=1, store_errors=1)),
    _without_key("two kills of the client", Faults(asks=1, machine_kills=2)),
    _without_key("a cut, deadlines", Faults(asks=1, cuts=1), has_deadlines=True),
    _without_key("a kill of a node, a store error", Faults(asks=1, node_kills=1, store_errors=1)),
    _without_key("a copy put back", Faults(asks=1, restores=1)),
)
"""With a bus between the nodes: requests also come to the node that does not hold the link."""

SEVERAL_CONFIGURATIONS = (
    _several("a kill of each side", Faults(node_kills=1, machine_kills=1)),
    _several("three, two kills of the client", Faults(machine_kills=2), actions=3),
    _several("a kill of the client, a cut", Faults(machine_kills=1, cuts=1)),
    _several("a reboot, a cut", Faults(reboots=1, cuts=1)),
    _several("a reboot, 24 hours", Faults(reboots=1, expiries=1)),
    _several("a copy put back, a kill of the client", Faults(restores=1, machine_kills=1)),
    _several("an image put back, a cut", Faults(image_restores=1, cuts=1), copies_while_up=True),
)
"""With several actions in the command, each of which has its result."""

CONFIGURATIONS = (
    _at_once("two kills of each side", Faults(node_kills=2, machine_kills=2)),
    Configuration("a kill of each side, claims that wait", Faults(node_kills=1, machine_kills=1)),
    _at_once("a kill of each side, a cut", Faults(node_kills=1, machine_kills=1, cuts=1)),
    Configuration("two cuts, another command", Faults(cuts=2, others=1)),
    Configuration(
        "a cut, a store error, another command", Faults(cuts=1, store_errors=1, others=1)
    ),
    _at_once("a cut, two store errors", Faults(cuts=1, store_errors=2)),
    _at_once(
        "a kill of each side, a store error", Faults(node_kills=1, machine_kills=1, store_errors=1)
    ),
    _at_once(
        "a kill of a node, a cut, a store error", Faults(node_kills=1, cuts=1, store_errors=1)
    ),
    _at_once("a copy put back, a cut, another command", Faults(restores=1, cuts=1, others=1)),
    _at_once("a copy put back, a kill of the client", Faults(restores=1, machine_kills=1)),
    _at_once("a copy put back, a kill of a node", Faults(restores=1, node_kills=1)),
    Configuration("a copy put back, a store error", Faults(restores=1, store_errors=1)),
    _at_once("a copy put back, a reboot", Faults(restores=1, reboots=1)),
    _at_once("another journal, a cut", Faults(replacements=1, cuts=1)),
    _at_once("a reboot, a cut, 24 hours", Faults(reboots=1, cuts=1, expiries=1)),
    _at_once(
        "an image put back, whenever it was made, a cut",
        Faults(image_restores=1, cuts=1),
        copies_while_up=True,
    ),
    _at_once(
        "a kill of the client, a cut, deadlines, 24 hours",
        Faults(machine_kills=1, cuts=1, expiries=1),
        has_deadlines=True,
    ),
    Configuration(
        "a cut, a store error, claims with a deadline",
        Faults(cuts=1, store_errors=1),
        has_deadlines=True,
    ),
    Configuration(
        "a cut, 24 hours, claims with a deadline", Faults(cuts=1, expiries=1), has_deadlines=True
    ),
    TWO_BRANCHES,
    Configuration(
        "a copy put back, a store error, marks with ids",
        Faults(restores=1, store_errors=1),
        marks_have_ids=True,
    ),
    *BUS_CONFIGURATIONS,
    *SEVERAL_CONFIGURATIONS,
)

COPY_AT_ANY_MOMENT = Configuration(
    "a copy put back, whenever it was made", Faults(restores=1), copies_while_up=True
)

COPY_WHILE_SEVERAL_RUN = _several(
    "a copy put back, also of while they ran", Faults(restores=1), copies_while_running=True
)

_KILL = Configuration("a kill of the client", Faults(machine_kills=1))
_NODE_KILL = Configuration("a kill of a node", Faults(node_kills=1))
_CUT = Configuration("a cut", Faults(cuts=1))
_RESTORE = Configuration("a copy put back", Faults(restores=1))
_EXPIRY = Configuration("24 hours, deadlines", Faults(expiries=1), has_deadlines=True)
_KILL_EXPIRY = Configuration("a kill, 24 hours", Faults(machine_kills=1, expiries=1))
_REBOOT_EXPIRY = _at_once("a reboot, a cut, 24 hours", Faults(reboots=1, cuts=1, expiries=1))
_CUT_RESTORE = _at_once("a copy put back, a cut", Faults(restores=1, cuts=1))
_KILL_RESTORE = _at_once(
    "a copy put back, a kill of the client", Faults(restores=1, machine_kills=1)
)
_ERROR_RESTORE = Configuration("a copy put back, a store error", Faults(restores=1, store_errors=1))

_FORWARDED = _with_key("nothing else", Faults(asks=1))
_FORWARDED_CUT = _with_key("a cut", Faults(asks=1, cuts=1))
_UNKEYED_KILL = _without_key("a kill of the client", Faults(asks=1, machine_kills=1))

_SEVERAL_KILL = _several("a kill of the client", Faults(machine_kills=1))
_SEVERAL_CUT = _several("a cut", Faults(cuts=1))
_SEVERAL_REBOOT = _several("a reboot", Faults(reboots=1))
_SEVERAL_RESTORE = _several("a copy put back", Faults(restores=1))

_UNUSED = "the events were begun, and the key says unused"
_TWICE = "the events were begun twice"
_NEVER_BUT_BEGUN = "not carried out, and the events were begun"
_FALSE_UNKNOWN = "unknown, and the machine was interrupted by nothing"
_BEGUN_AFTER = "the events were begun after the final answer"
_NOT_STORED = "is not stored"
_TWO_ANSWERS = "two final answers"
_FALSE_WORD = "all who asked were told that nothing has happened"

_NOT_ALL_THERE = "an action is completed, and its events were not all there"
_NOT_BEGUN_BUT_BEGUN = "an action is not begun, and its events were begun"

MUTANTS = {
    "claim_is_unique": (_KILL, _UNUSED),
    "claim_is_known_by_attempt": (_KILL, _UNUSED),
    "mark_sent_compares": (_NODE_KILL, _NOT_STORED),
    "takeover_compares": (_KILL, _UNUSED),
    "sent_before_bytes": (_NODE_KILL, _UNUSED),
    "sent_is_never_sent_again": (_KILL, _UNUSED),
    "only_unsent_is_forgotten": (_CUT, _UNUSED),
    "forgetting_compares_attempt": (_CUT, _UNUSED),
    "forgetting_compares_state": (_CUT, _NOT_STORED),
    "finish_compares_attempt": (_KILL_RESTORE, _FALSE_UNKNOWN),
    "first_final_state_wins": (_RESTORE, _TWO_ANSWERS),
    "only_sent_is_finished": (_ERROR_RESTORE, _FALSE_UNKNOWN),
    "stored_before_answered": (_NODE_KILL, _NOT_STORED),
    "journal_id_is_compared": (
        Configuration("another journal", Faults(replacements=1)),
        _NEVER_BUT_BEGUN,
    ),
    "sequence_is_compared": (_RESTORE, _NEVER_BUT_BEGUN),
    "mark_is_compared": (TWO_BRANCHES, _NEVER_BUT_BEGUN),
    "boot_is_compared": (
        Configuration("an image put back", Faults(image_restores=1), copies_while_up=True),
        _NEVER_BUT_BEGUN,
    ),
    "epoch_is_compared": (_RESTORE, _FALSE_UNKNOWN),
    "judged_after_ready": (Configuration("a reboot", Faults(reboots=1)), _FALSE_UNKNOWN),
    "judged_before_mark": (_CUT_RESTORE, _NEVER_BUT_BEGUN),
    "marked_before_input": (_RESTORE, _NEVER_BUT_BEGUN),
    "settled_before_new": (
        Configuration("a cut, another command", Faults(cuts=1, others=1)),
        "something new was begun while what was begun before is open",
    ),
    "old_links_are_refused": (_RESTORE, _BEGUN_AFTER),
    "intent_before_events": (_KILL, _NEVER_BUT_BEGUN),
    "intent_is_flushed": (_REBOOT_EXPIRY, _TWICE),
    "begun_mark_before_events": (_SEVERAL_KILL, _NOT_BEGUN_BUT_BEGUN),
    "begun_mark_is_flushed": (_SEVERAL_REBOOT, _NOT_BEGUN_BUT_BEGUN),
    "done_mark_after_events": (_SEVERAL_KILL, _NOT_ALL_THERE),
    "interrupted_with_link": (_SEVERAL_CUT, "an action was begun after its link was gone"),
    "done_after_events": (_KILL, "completed, and the events were not all there"),
    "done_is_answered_from_journal": (_EXPIRY, _BEGUN_AFTER),
    "intent_is_never_injected": (_KILL_EXPIRY, _TWICE),
    "tombstone_is_never_injected": (_KILL_EXPIRY, _BEGUN_AFTER),
    "tombstone_before_never": (_KILL_EXPIRY, _BEGUN_AFTER),
    "tombstone_is_flushed": (_REBOOT_EXPIRY, _BEGUN_AFTER),
    "running_is_reported_running": (_CUT, _FALSE_UNKNOWN),
    "journal_before_lateness": (_EXPIRY, _TWO_ANSWERS),
    "queue_ends_with_link": (_CUT_RESTORE, _NEVER_BUT_BEGUN),
    "sent_does_not_expire": (
        Configuration("a cut, 24 hours", Faults(cuts=1, expiries=1)),
        _UNUSED,
    ),
    "journal_outlives_record": (
        Configuration("24 hours", Faults(expiries=1)),
        _TWICE,
    ),
    "unsent_is_never_final": (_EXPIRY, _BEGUN_AFTER),
    "finish_is_tried_again": (_ERROR_RESTORE, _NEVER_BUT_BEGUN),
    "forward_names_its_link": (_UNKEYED_KILL, _FALSE_WORD),
    "only_the_named_link_answers": (_FORWARDED_CUT, _FALSE_WORD),
    "refused_forward_is_remembered": (_FORWARDED, _FALSE_WORD),
    "taken_forward_is_remembered": (_FORWARDED_CUT, _FALSE_WORD),
    "late_forward_is_refused": (
        _with_key("deadlines", Faults(asks=1), has_deadlines=True),
        _FALSE_WORD,
    ),
    "unused_is_said_by_all": (_FORWARDED, _FALSE_WORD),
    "unkeyed_goes_to_one_link": (_UNKEYED_KILL, _TWICE),
    "unkeyed_may_be_forgotten": (_UNKEYED_KILL, _NEVER_BUT_BEGUN),
}
"""Every rule: a small configuration in which it is missed, and the promise that breaks first."""

SEVERAL_MUTANTS = {
    "sent_is_never_sent_again": (_SEVERAL_KILL, _UNUSED),
    "intent_is_never_injected": (
        _several("a kill, 24 hours", Faults(machine_kills=1, expiries=1)),
        _BEGUN_AFTER,
    ),
    "intent_is_flushed": (_several("a reboot, 24 hours", Faults(reboots=1, expiries=1)), _TWICE),
    "sequence_is_compared": (_SEVERAL_RESTORE, _NEVER_BUT_BEGUN),
    "running_is_reported_running": (_SEVERAL_CUT, _FALSE_UNKNOWN),
}
"""Rules that several actions need as one does, and which promise breaks first."""

COVERED = {
    "queue_is_left_by_the_asked": (
        "A request that has sent an input lives as long as its link, and whatever waits in the "
        "queue ends with it: nobody asks about what is queued.  Should somebody, the TOMBSTONE "
        "stands in the journal before the command's turn comes."
    ),
}
"""Rules that the others cover, and why: a second lock on a door."""
