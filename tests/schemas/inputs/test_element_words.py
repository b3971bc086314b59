from schemas.inputs.element_words import ROLES, STATES


def test_roles_have_the_numbers_of_at_spi() -> None:
    numbers = {ROLES.index(role): role for role in ("check box", "push button", "entry", "switch")}
    assert numbers == {7: "check box", 43: "push button", 79: "entry", 130: "switch"}


def test_no_word_is_said_twice() -> None:
    assert (len({*ROLES}), len({*STATES})) == (len(ROLES), len(STATES))
