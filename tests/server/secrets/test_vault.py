"""What is sealed opens for its owner, with its key, and tells nobody else anything."""

from dataclasses import replace
from uuid import uuid4

import pytest

from server.secrets.vault import SealedError, Vault

FIRST, SECOND = b"1" * 32, b"2" * 32
RUN = uuid4()
SECRETS = {"password": "canary ö \n", "pin": "4711"}


def test_what_is_sealed_opens_again_and_is_another_each_time() -> None:
    vault = Vault([FIRST])
    sealed = vault.seal(RUN, SECRETS)
    assert Vault([FIRST]).opened(RUN, sealed) == SECRETS
    assert sealed.content != vault.seal(RUN, SECRETS).content
    assert sealed.key_id == vault.key_id


def test_nothing_of_it_is_in_what_is_kept_or_printed() -> None:
    vault = Vault([FIRST])
    sealed = vault.seal(RUN, SECRETS)
    for kept in (sealed.content, repr(sealed).encode(), repr(vault).encode()):
        assert b"canary" not in kept
        assert FIRST not in kept


def test_first_key_seals_and_all_of_them_open() -> None:
    before = Vault([FIRST]).seal(RUN, SECRETS)
    rotated = Vault([SECOND, FIRST])
    assert rotated.opened(RUN, before) == SECRETS
    assert rotated.seal(RUN, SECRETS).key_id == Vault([SECOND]).key_id
    assert rotated.key_ids == {Vault([FIRST]).key_id, Vault([SECOND]).key_id}
    with pytest.raises(SealedError, match=f"the key {before.key_id}, which is not here"):
        Vault([SECOND]).opened(RUN, before)


def test_what_is_anothers_or_was_changed_does_not_open() -> None:
    vault = Vault([FIRST])
    sealed = vault.seal(RUN, SECRETS)
    changed = bytes([*sealed.content[:-1], sealed.content[-1] ^ 1])
    for owner, content in (
        (uuid4(), sealed.content),
        (RUN, changed),
        (RUN, sealed.content[:20]),
        (RUN, b""),
    ):
        with pytest.raises(SealedError) as refused:
            vault.opened(owner, replace(sealed, content=content))
        assert "canary" not in str(refused.value)
        assert refused.value.__cause__ is None
