"""Log lines carry no secrets."""

from __future__ import annotations

import pytest

from agentdash.logs import masked


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("GET /login?token=abc-123_x HTTP/1.1", "GET /login?token=[masked] HTTP/1.1"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer [masked]"),
        ("api_key='sk-ant-api03-xyz'", "api_key='[masked]'"),
        ("called with sk-ant-api03-xyz_1", "called with [masked]"),
        ("redis://user:hunter2@host/0", "redis[masked]host/0"),
        ("nothing to hide at turn 12", "nothing to hide at turn 12"),
    ],
)
def test_secrets_are_masked(said: str, written: str) -> None:
    assert masked(said) == written
