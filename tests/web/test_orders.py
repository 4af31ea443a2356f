"""One order, one answer: as a page, as a fragment, as JSON."""

from __future__ import annotations

import pytest
from django.test import Client

from runs.models import Order, Run
from runs.store.archive import StateChange, append
from runs.store.lease import claim
from tests.builders import a_person, a_run

from .conftest import HTMX, JSON, logged_in


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker answers: these tests are about what the page says meanwhile."""
    monkeypatch.setattr("runs.tasks.hint", lambda run_id: None)


@pytest.fixture
def run(ada: object) -> Run:
    return a_run(ada, turns=8, order="")


def test_an_order_is_taken_and_its_answer_is_still_to_come(client: Client, run: Run) -> None:
    answer = client.post(f"/runs/{run.slug}/orders/pause/", **JSON)
    assert answer.status_code == 202
    assert answer.json().keys() == {"order", "kind", "state", "applied_seq", "reason"}
    assert answer.json()["state"] == "pending"
    assert Order.objects.get().kind == "pause"


def test_compact_takes_method_keep_and_instructions_from_the_form(client: Client, run: Run) -> None:
    given = {"method": "both", "keep": "4", "instructions": "Keep the numbers.", "client_key": "a-key"}
    client.post(f"/runs/{run.slug}/orders/compact/", given, **HTMX)
    order = Order.objects.get()
    assert order.args == {"method": "both", "keep": 4, "instructions": "Keep the numbers."}
    assert order.client_key == "a-key"


def test_the_same_form_sent_twice_is_one_order(client: Client, run: Run) -> None:
    for _ in range(2):
        client.post(f"/runs/{run.slug}/orders/compact/", {"client_key": "once"}, **JSON)
    assert Order.objects.count() == 1


def test_json_bodies_are_read_like_forms(client: Client, run: Run) -> None:
    path, body = f"/runs/{run.slug}/orders/say/", {"text": "Mind the tests.", "how": "queue"}
    answer = client.post(path, body, content_type="application/json", **JSON)
    assert answer.status_code == 202
    assert Order.objects.get().args == body


def test_the_dialog_gets_the_chip_and_nothing_else(client: Client, run: Run) -> None:
    headers = {"hx-request": "true", "hx-target": "dialog"}
    answer = client.post(f"/runs/{run.slug}/orders/compact/", headers=headers)
    html = answer.content.decode()
    assert 'id="chips"' in html
    assert "hx-swap-oob" in html
    assert "Compact" in html


def test_without_js_a_form_leads_back_to_the_run(client: Client, run: Run) -> None:
    answer = client.post(f"/runs/{run.slug}/orders/pause/")
    assert answer.status_code == 302
    assert answer["Location"] == f"/runs/{run.slug}/"


@pytest.mark.parametrize(
    ("kind", "given", "says"),
    [
        ("explode", {}, "There is no order"),
        ("say", {}, "nothing to say"),
        ("compact", {"method": "magic"}, "The method is one of"),
        ("compact", {"keep": "many"}, "keep must be a whole number"),
        ("step", {"n": "0"}, "from 1 to"),
    ],
)
def test_an_order_that_makes_no_sense_gets_a_sentence(
    client: Client, run: Run, kind: str, given: dict[str, str], says: str
) -> None:
    answer = client.post(f"/runs/{run.slug}/orders/{kind}/", given, **JSON)
    assert answer.status_code == 422
    assert says in answer.json()["error"]
    page = client.post(f"/runs/{run.slug}/orders/{kind}/", given)
    assert page.status_code == 422
    assert "<html" in page.content.decode()
    assert Order.objects.count() == 0


def test_an_order_the_state_does_not_take_is_rejected_with_its_name(client: Client, run: Run) -> None:
    owned = claim(run.pk, "worker-1", any_state=True) or _again(run)
    append(owned, state=StateChange(state="done"))
    answer = client.post(f"/runs/{run.slug}/orders/pause/", **JSON)
    assert answer.status_code == 409
    assert answer.json()["state"] == "rejected"
    assert "done" in answer.json()["reason"]


def _again(run: Run) -> object:
    Run.objects.filter(pk=run.pk).update(lease_until_ms=0)
    return claim(run.pk, "worker-1")


def test_a_press_on_a_screen_that_is_out_of_date_is_refused_in_the_dialog(client: Client, run: Run) -> None:
    full = a_run(run.owner, turns=30, order="")
    headers = {"hx-request": "true", "hx-target": "dialog"}
    answer = client.post(f"/runs/{full.slug}/orders/compact/", {"seen_seq": "3"}, headers=headers)
    assert answer.status_code == 409
    assert "Not sent" in answer.content.decode()


def test_waiting_for_an_answer_ends_after_the_time_given(client: Client, run: Run) -> None:
    answer = client.post(f"/runs/{run.slug}/orders/pause/?wait=0.2", **JSON)
    assert answer.status_code == 202
    assert answer.json()["state"] == "pending"


def test_orders_need_post_and_a_run_of_ones_own(client: Client, run: Run) -> None:
    assert client.get(f"/runs/{run.slug}/orders/pause/").status_code == 405
    assert logged_in(a_person("zoe")).post(f"/runs/{run.slug}/orders/pause/", **JSON).status_code == 404
    assert Order.objects.count() == 0


def test_a_form_without_its_token_is_refused(run: Run) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(run.owner)
    assert strict.post(f"/runs/{run.slug}/orders/pause/").status_code == 403
    assert Order.objects.count() == 0
