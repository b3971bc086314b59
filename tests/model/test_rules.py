"""The protocol needs every one of its rules: without it a promise breaks in some state.

Run with ``-s`` to see how many states there were.
"""

from dataclasses import fields
from functools import cache

import pytest

from tests.model.configurations import CONFIGURATIONS, COVERED, MUTANTS, SEVERAL_MUTANTS
from tests.model.explorer import explore
from tests.model.protocol import Configuration, Rules, World


def without(rule: str) -> Rules:
    """Every rule but one."""
    return Rules(**{rule: False})


@cache
def holds(configuration: Configuration) -> bool:
    """Whether every promise holds while every rule is kept."""
    return explore(World(configuration)).violation is None


@pytest.mark.parametrize(
    ("rule", "configuration", "promise"),
    [(rule, *missed) for rules in (MUTANTS, SEVERAL_MUTANTS) for rule, missed in rules.items()],
    ids=[*MUTANTS, *(f"{rule}, several actions" for rule in SEVERAL_MUTANTS)],
)
def test_without_a_rule_a_promise_breaks(
    rule: str, configuration: Configuration, promise: str
) -> None:
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


def test_violation_reads_as_numbered_steps() -> None:
    configuration, promise = MUTANTS["sent_before_bytes"]
    found = explore(World(configuration, without("sent_before_bytes"))).violation
    assert str(found).startswith(f"{promise}\n  1. machine connects to node 0\n  2. node 0 counts")
