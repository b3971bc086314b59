"""What disturbs sessions is planned: everybody is killed, and each step is known by its place."""

import random
from collections import Counter
from itertools import chain

from tests.faults.session_plan import Places, Victim, steps, strikes


def test_everybody_is_killed_equally_often() -> None:
    for kills in (1, 6, 300):
        victims = Counter(chain(*(each.victims for each in strikes(kills, random.Random(1)))))
        assert victims.total() == kills
        assert max(victims.values()) - min(victims[each] for each in Victim) <= 1


def test_same_seed_makes_the_same_plan_and_another_another() -> None:
    one, again, other = (list(strikes(20, random.Random(seed))) for seed in (1, 1, 2))
    assert one == again != other
    assert {len(each.victims) for each in one} == {1, 2}


def test_each_event_says_of_which_action_it_is() -> None:
    places, rng = Places(), random.Random(1)
    acts = [act for _ in range(20) for acts in steps(places, rng) for act in acts]
    owned = [what for act in acts for what in act.own]
    assert len(owned) == len({*owned}) > 500
    assert all(0 <= x < 1200 and 0 <= y < 700 for _, x, y in owned)  # type: ignore[misc]
