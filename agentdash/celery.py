"""The Celery app. Embedded it uses a broker inside the process, scaled out Redis; the tasks are the same."""

from __future__ import annotations

import os

from celery import Celery

from agentdash import broker, inproc

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentdash.settings")

inproc.register()
broker.register()
app = Celery("agentdash")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.set_default()
app.autodiscover_tasks(["runs"])
