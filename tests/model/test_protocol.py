"""The protocol keeps its promises in every state of the model, and needs every one of its rules.

Run with ``-s`` to see how many states there were.
"""

from dataclasses import fields
from functools import cache

import pytest

from tests.model.configurations import CONFIGURATIONS, COPY_AT_ANY_MOMENT, COVERED, MUTANTS
from tests.model.explorer import explore
from tests.model.protocol import Configuration, Rules, World

LEAST_STATES = 100_000
"""In the largest configuration: far below, the model has lost what it is to look at."""


def without(rule: str) -> Rules:
    """Every rule but one."""
    return Rules(**{rule: False})


@cache
def holds(configuration: Configuration) -> bool:
    """Whether every promise holds while every rule is kept."""
    return explore(World(configuration)).violation is None


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=lambda value: value.name)
def test_every_promise_holds_in_every_state(configuration: Configuration) -> None:
    found = explore(World(configuration))
    print(f" {found.states} states, {found.steps} steps: {configuration.name}", end=" ")
    assert found.violation is None, str(found.violation)
    if configuration is CONFIGURATIONS[0]:
        assert found.states > LEAST_STATES


@pytest.mark.parametrize("rule", MUTANTS)
def test_without_a_rule_a_promise_breaks(rule: str) -> None:
    configuration, promise = MUTANTS[rule]
    assert holds(configuration), "it is not the rule that is missed"
    found = explore(World(configuration, without(rule)))
    print(f" {found.states} states without {rule}", end=" ")
    assert found.violation is not None, f"{configuration.name}: {found.states} states, none wrong"
    assert promise in found.violation.promise, str(found.violation)


@pytest.mark.parametrize("rule", COVERED)
@pytest.mark.parametrize("configuration", CONFIGURATIONS[1:4:2], ids=lambda value: value.name)
def test_rule_that_others_cover_is_not_missed(rule: str, configuration: Configuration) -> None:
    found = explore(World(configuration, without(rule)))
    assert found.violation is None, str(found.violation)


def test_every_rule_has_its_mutant() -> None:
    assert {field.name for field in fields(Rules)} == {*MUTANTS, *COVERED}


def test_copy_between_mark_and_intent_is_not_found_out() -> None:
    """The known limit: nothing tells such a copy from the journal that the record was sent to."""
    found = explore(World(COPY_AT_ANY_MOMENT)).violation
    assert found is not None
    assert found.promise == "not carried out, and the events were begun"
    mark, intent = (
        found.steps.index(f"machine {step}") for step in ("marks its journal", "notes INTENT")
    )
    assert mark < intent < found.steps.index("copy 1 of the journal is put back")


def test_violation_reads_as_numbered_steps() -> None:
    configuration, promise = MUTANTS["sent_before_bytes"]
    found = explore(World(configuration, without("sent_before_bytes"))).violation
    assert str(found).startswith(f"{promise}\n  1. machine connects to node 0\n  2. node 0 counts")
