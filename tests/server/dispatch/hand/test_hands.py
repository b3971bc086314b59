from schemas.inputs.hand import HandCloseCode
from server.dispatch.hand.hand import HandClosedError
from server.dispatch.hand.hands import Hands


def test_newest_hand_of_a_lease_stays() -> None:
    hands = Hands()
    closed: list[tuple[str, HandCloseCode]] = []

    def older(error: HandClosedError) -> None:
        closed.append(("older", error.code))
        hands.end("lease", older)

    def newer(error: HandClosedError) -> None:
        closed.append(("newer", error.code))

    hands.begin("lease", older)
    hands.begin("another", newer)
    hands.begin("lease", newer)
    assert closed == [("older", HandCloseCode.REPLACED)]
    assert len(hands) == 2
    hands.end("lease", newer)
    assert len(hands) == 1
