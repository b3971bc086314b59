"""Control of a machine keeps its promises in every state of the model, and needs its rules.

Run with ``-s`` to see how many states there were.
"""

from dataclasses import fields
from functools import cache

import pytest

from tests.model.control.configurations import (
    CONFIGURATIONS,
    COVERED,
    MUTANTS,
    NEW_LINK,
    PAIRS,
)
from tests.model.control.explorer import explore
from tests.model.control.protocol import Configuration, Rules, World
from tests.model.explorer import Exploration

LEAST_STATES = 10_000
"""In the first configuration: far below, the model has lost what it is to look at."""


@cache
def whole(configuration: Configuration) -> Exploration:
    """What there is to see while every rule is kept."""
    return explore(World(configuration))


def without(configuration: Configuration, *rules: str) -> Exploration:
    """What there is to see without some rules."""
    return explore(World(configuration, Rules(**dict.fromkeys(rules, False))))


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=lambda value: value.name)
def test_every_promise_holds_in_every_state(configuration: Configuration) -> None:
    found = whole(configuration)
    print(f" {found.states} states, {found.steps} steps: {configuration.name}", end=" ")
    assert found.violation is None, str(found.violation)
    if configuration is CONFIGURATIONS[0]:
        assert found.states > LEAST_STATES


@pytest.mark.parametrize("rule", MUTANTS)
def test_without_a_rule_a_promise_breaks(rule: str) -> None:
    configuration, promise = MUTANTS[rule]
    assert whole(configuration).violation is None, "it is not the rule that is missed"
    found = without(configuration, rule)
    print(f" {found.states} states without {rule}", end=" ")
    assert found.violation is not None, f"{configuration.name}: {found.states} states, none wrong"
    assert promise in found.violation.promise, str(found.violation)


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_one_of_two_rules_is_needed(pair: tuple[str, str]) -> None:
    configuration, promise = PAIRS[pair]
    for rule in pair:
        alone = without(configuration, rule).violation
        assert alone is None, str(alone)
    found = without(configuration, *pair).violation
    assert found is not None
    assert promise in found.promise, str(found)


@pytest.mark.parametrize("rule", COVERED)
def test_rule_that_others_cover_is_not_missed(rule: str) -> None:
    found = without(NEW_LINK, rule).violation
    assert found is None, str(found)


def test_every_rule_has_its_place() -> None:
    paired = {rule for pair in PAIRS for rule in pair}
    assert {field.name for field in fields(Rules)} == {*MUTANTS, *COVERED} | paired
