"""The store's tests are its conformance suite: each runs on SQLite and on Postgres.

With AGENTDASH_TEST_DATABASE_URL they run there alone; else on both, on a server of this session's own.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.chaos.servers import binaries
from tests.twins import GIVEN, Twin, Twins

LACKS = binaries() is None and "CI" not in os.environ
POSTGRES = pytest.param(
    "postgres",
    marks=pytest.mark.skipif(LACKS, reason="Missing: postgresql. To run this: sudo apt install postgresql"),
)


@pytest.fixture(autouse=True, params=[POSTGRES] if GIVEN else ["sqlite", POSTGRES])
def twin(twins: Twins, request: pytest.FixtureRequest, django_db_blocker: Any) -> Twin:
    with django_db_blocker.unblock():
        return twins.of(request.param)
