"""The store's tests are its conformance suite: each runs on SQLite and on Postgres.

With AGENTDASH_TEST_DATABASE_URL they run there alone; else on both, on a server of this session's own.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.twins import GIVEN, Twin, Twins


@pytest.fixture(autouse=True, params=["postgres"] if GIVEN else ["sqlite", "postgres"])
def twin(twins: Twins, request: pytest.FixtureRequest, django_db_blocker: Any) -> Twin:
    with django_db_blocker.unblock():
        return twins.of(request.param)
