"""What the machine client does: one link after another, one input after another."""

from collections.abc import Iterator

from tests.model.control.protocol import Rules, World
from tests.model.control.state import (
    INPUT,
    INTERRUPT,
    NAMES,
    OPENED,
    OVER,
    RELEASE,
    Job,
    Link,
    Machine,
    Said,
    State,
    Step,
    with_link,
    with_machine,
)


def machine_steps(world: World, state: State) -> Iterator[Step]:
    """Every step of the machine client."""
    rules, machine, left = world.rules, state.machine, state.left
    if machine.link < 0:
        if left.links:
            number = len(state.links)
            yield Step(f"machine opens link {number}", False, _connected(rules, state))
    else:
        is_gone = state.links[machine.link].stage == OVER
        leaving = _left(rules, state)
        yield Step(f"machine leaves link {machine.link}", is_gone, leaving)
    for number, link in enumerate(state.links):
        if link.to_machine and (number == machine.link or not rules.one_link_is_heard):
            said = link.to_machine[0]
            yield Step(f"machine hears {_named(said)}", True, _heard(rules, state, number))
    if machine.jobs:
        name = f"input of {NAMES[machine.jobs[0].sender]} ends"
        yield Step(name, True, _ended(rules, state))
    if left.kills:
        fewer = left._replace(kills=left.kills - 1)
        yield Step("machine client is killed", False, _killed(rules, state)._replace(left=fewer))


def _named(said: Said) -> str:
    return f"an input of {NAMES[said.sender]}" if said.kind == INPUT else "an interrupt"


def _connected(rules: Rules, state: State) -> State:
    """The machine opens its next link; before, it has released what a killed client had pressed."""
    machine, left = state.machine, state.left
    link = Link(OPENED)
    if rules.killed_is_released:
        machine = machine._replace(left=frozenset())
    machine = machine._replace(link=len(state.links))
    left = left._replace(links=left.links - 1)
    return state._replace(links=(*state.links, link), machine=machine, left=left)


def _left(rules: Rules, state: State) -> State:
    """The machine gives its link up; what runs goes on, and what it has said may still arrive."""
    machine = state.machine
    state = _unheard(rules, state)
    if rules.queue_ends_with_link:
        machine = machine._replace(queue=())
    state = with_machine(state, machine._replace(link=-1))
    return _given(rules, state, Job(RELEASE)) if rules.lost_link_releases else state


def _unheard(rules: Rules, state: State) -> State:
    """What was on its way to the machine is lost with the link, and nothing is confirmed on it."""
    number = state.machine.link
    if number < 0:
        return state
    link = state.links[number]
    stale: tuple[Said, ...] = ()
    if not rules.one_link_is_heard:
        stale = tuple(said for said in link.to_machine if said.kind == INPUT)
    return with_link(state, number, link._replace(to_machine=stale, open=min(link.open, 1)))


def _heard(rules: Rules, state: State, number: int) -> State:
    link, machine = state.links[number], state.machine
    said, rest = link.to_machine[0], link.to_machine[1:]
    state = with_link(state, number, link._replace(to_machine=rest))
    if said.kind == INPUT:
        machine = machine._replace(queue=(*machine.queue, said.sender))
        return with_machine(state, _begin_next(machine))
    if rules.interrupt_empties_queue:
        machine = machine._replace(queue=())
    job = Job(INTERRUPT, link=number)
    if not rules.interrupt_waits_for_running:
        state, job = _confirmed(rules, state, job), Job(RELEASE)
    return _given(rules, with_machine(state, machine), job)


def _given(rules: Rules, state: State, job: Job) -> State:
    """The executor has a job more; what takes no time is done at once, where nothing runs."""
    machine = state.machine
    state = with_machine(state, machine._replace(jobs=(*machine.jobs, job)))
    return state if machine.jobs else _worked(rules, state)


def _worked(rules: Rules, state: State) -> State:
    """All that comes before the next input is done."""
    while (jobs := state.machine.jobs) and jobs[0].kind != INPUT:
        machine = state.machine._replace(jobs=jobs[1:])
        if jobs[0].kind == RELEASE or rules.interrupt_releases:
            machine = machine._replace(held=frozenset())
        state = with_machine(state, machine)
        if jobs[0].kind == INTERRUPT:
            state = _confirmed(rules, state, jobs[0])
    return state


def _begin_next(machine: Machine) -> Machine:
    """The executor is given the next input, when the one before has ended."""
    if not machine.queue or any(job.kind == INPUT for job in machine.jobs):
        return machine
    first, rest = machine.queue[0], machine.queue[1:]
    return machine._replace(queue=rest, jobs=(*machine.jobs, Job(INPUT, first)))


def _confirmed(rules: Rules, state: State, job: Job) -> State:
    """The node hears that an interrupt is done, where the link that it came on is still there.

    It hears it at once: who waits for it may go on later.
    """
    link = state.links[job.link]
    if state.machine.link != job.link or link.stage == OVER:
        return state
    still_open = link.open - 1 if rules.confirmation_is_named else 0
    return with_link(state, job.link, link._replace(open=still_open))


def _ended(rules: Rules, state: State) -> State:
    """What runs has ended, and what it pressed is held."""
    machine = state.machine
    held = machine.held | {machine.jobs[0].sender}
    machine = _begin_next(machine._replace(jobs=machine.jobs[1:], held=held))
    return _worked(rules, with_machine(state, machine))


def _killed(rules: Rules, state: State) -> State:
    """All that the process knew is gone; what it had pressed stays so."""
    machine = state.machine
    left = machine.left | machine.held
    if machine.jobs:
        left |= {machine.jobs[0].sender}
    state = _unheard(rules, state)
    return with_machine(state, Machine(left=left))
