"""Django's settings. With an empty environment: one process, SQLite, the in-process broker and channel layer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONE, SELF

from agentdash import env, logs
from agentdash.secrets import folder, secret

AGENTDASH = env.read(os.environ)
AGENTDASH_HOME = folder(AGENTDASH.home)

# The wheel holds templates and static files inside the package, a checkout beside it.
HERE = Path(__file__).resolve().parent
ROOT = HERE if (HERE / "templates").is_dir() else HERE.parent

AGENTDASH_PRICES = env.prices(AGENTDASH_HOME / "prices.toml")

DEBUG = False
SECRET_KEY = secret(AGENTDASH_HOME, "secret")
ROOT_URLCONF = "agentdash.urls"
ASGI_APPLICATION = "agentdash.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "csp",
    "django_htmx",
    "ninja",
    "runs",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "agentdash.door.Headers",
    "agentdash.static.StaticFiles",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "agentdash.door.SameOrigin",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "agentdash.door.Locked",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# IMMEDIATE, because a deferred transaction that turns into a write fails at once, whatever the timeout; FULL,
# because the archive promises to survive a power cut; recursive_triggers, because INSERT OR REPLACE would
# otherwise delete append-only rows without their trigger.
SQLITE: dict[str, Any] = {
    "ENGINE": "django.db.backends.sqlite3",
    "NAME": AGENTDASH_HOME / "agentdash.sqlite3",
    "OPTIONS": {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",
        "init_command": (
            "PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;PRAGMA foreign_keys=ON;"
            "PRAGMA recursive_triggers=ON;PRAGMA journal_size_limit=27103364;"
        ),
    },
}
DATABASES = {"default": SQLITE if AGENTDASH.embedded else env.database(AGENTDASH.database_url)}

AGENTDASH_LEASE_MS = AGENTDASH.lease_ms

CELERY_BROKER_URL = AGENTDASH.redis_url or "inproc://localhost//"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_TASK_PUBLISH_RETRY = False
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Else a worker whose threads are all taken hoards as many hints again, while the next one has threads to spare.
CELERY_WORKER_DISABLE_PREFETCH = not AGENTDASH.embedded
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 25
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {}
    if AGENTDASH.embedded
    else {"socket_connect_timeout": 2, "socket_timeout": 10, "visibility_timeout": 3600}
)

CHANNEL_LAYERS: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "agentdash.layers.HopLayer"}
    if AGENTDASH.embedded
    else {
        "BACKEND": "agentdash.layers.PubSubLayer",
        "CONFIG": {"hosts": [AGENTDASH.redis_url], "prefix": "agentdash"},
    }
}

_LOCAL = "django.core.files.storage.FileSystemStorage"
STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": _LOCAL},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "runs": {"BACKEND": _LOCAL, "OPTIONS": {"location": AGENTDASH_HOME / "runs"}},
}

STATIC_URL = "/static/"
STATICFILES_DIRS = [ROOT / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_MAX_AGE = 60

_public = urlsplit(AGENTDASH.public_url).hostname
ALLOWED_HOSTS = [_public] if _public else ["127.0.0.1", "localhost", "[::1]"]
CSRF_TRUSTED_ORIGINS = [AGENTDASH.public_url] if _public else []
LOGIN_URL = "login"

# Cookies are not parted by port: another server on this machine must not overwrite ours.
_prefix = "__Host-agentdash" if AGENTDASH.https else "agentdash"
SESSION_COOKIE_NAME = f"{_prefix}_{AGENTDASH.port}"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = AGENTDASH.https
CSRF_COOKIE_NAME = f"{_prefix}_csrf_{AGENTDASH.port}"
CSRF_COOKIE_HTTPONLY = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if AGENTDASH.https else None

# Not no-referrer: a browser under it sends "Origin: null" with a form, and the door could not tell whose form it is.
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "object-src": [NONE],
    }
}

LOGGING = logs.settings(AGENTDASH_HOME if AGENTDASH.embedded else None)
