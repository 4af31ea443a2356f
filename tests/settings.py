"""Settings of the tests: a home of their own that is thrown away, no variable of the person who runs them."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

HOME = tempfile.mkdtemp(prefix="agentdash-tests-")
atexit.register(shutil.rmtree, HOME, ignore_errors=True)
KEPT = (
    "AGENTDASH_CHROMIUM",
    "AGENTDASH_TEST_DATABASE_URL",
    "AGENTDASH_CHAOS",
    "AGENTDASH_CHAOS_LOG",
    "AGENTDASH_FUZZ",
)
for name in [name for name in os.environ if name.startswith(("AGENTDASH_", "ANTHROPIC_"))]:
    if name not in KEPT:
        del os.environ[name]
for name in ("REDIS_URL", "DATABASE_URL"):
    os.environ.pop(name, None)
os.environ["AGENTDASH_HOME"] = HOME

from agentdash.settings import *  # noqa: E402, F403 (it reads the environment that was just made)

ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", "testserver"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
