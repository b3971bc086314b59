from server.dispatch.fingerprints import Fingerprints
from tests.store import ORGANIZATION, OTHER_ORGANIZATION

SECRETS = (b"one", b"two")


def test_fingerprint_depends_on_secret_organization_key_and_content() -> None:
    prints = {
        Fingerprints(secret).of(organization, key, [content])
        for secret in SECRETS
        for organization in (ORGANIZATION, OTHER_ORGANIZATION)
        for key in ("k", "l")
        for content in (b"a", b"b")
    }
    assert len(prints) == 16
    assert {len(each) for each in prints} == {64}


def test_fingerprint_is_of_the_content_and_not_of_its_pieces() -> None:
    fingerprints = Fingerprints(b"one")
    whole = fingerprints.of(ORGANIZATION, "k", [b"ab"])
    assert fingerprints.of(ORGANIZATION, "k", iter([b"a", b"b"])) == whole
    # What belongs to the key is no part of the content.
    assert fingerprints.of(ORGANIZATION, "ka", [b"b"]) != fingerprints.of(
        ORGANIZATION, "k", [b"ab"]
    )
