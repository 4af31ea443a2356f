"""The store's tests run on Postgres too, when AGENTDASH_TEST_DATABASE_URL says where one is."""

from __future__ import annotations

import os

if os.environ.get("AGENTDASH_TEST_DATABASE_URL"):
    from tests.postgres import _django_db_helper, template_database  # noqa: F401
