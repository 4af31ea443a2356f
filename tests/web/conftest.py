"""Pages and their JSON twins, asked as Ada; runs come from the builders."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from runs.models import Run
from tests.builders import a_person, a_run
from tests.living import LiveHouse

from .stage import Stage

JSON = {"headers": {"accept": "application/json"}}
HTMX = {"headers": {"hx-request": "true"}}


@pytest.fixture
def ada(db: None) -> Any:
    return a_person("ada")


@pytest.fixture
def client(ada: Any) -> Client:
    return logged_in(ada)


@pytest.fixture
def run(ada: Any) -> Run:
    """Thirty turns: a clearing, two compactions, a person's word, an order that waits."""
    return a_run(ada)


@pytest.fixture
def stage(live_house: LiveHouse) -> Stage:
    return Stage(live_house)


def logged_in(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client
