"""The numbers that govern a window, and what is said when they are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs.engine.policy import PolicyError, load, preset, presets
from runs.engine.policy.model import from_mapping, smaller


def test_the_presets_and_what_makes_each() -> None:
    assert presets() == ("default", "asking", "careful", "classic", "demo", "frugal")
    default, classic, demo = preset("default"), preset("classic"), preset("demo")
    assert (default.window.mark, default.window.hard, default.clear.keep, default.clear.frees) == (
        0.6,
        0.85,
        3,
        0.7,
    )
    assert (default.compact.keep, default.compact.keep_messages, default.compact.keep_cap) == (0.05, 6, 0.2)
    assert (classic.clear_at, classic.compact_at, classic.window.hard, classic.compact.keep) == (
        0.7,
        0.85,
        0.93,
        0.1,
    )
    assert preset("asking").approval.tools == ("write_file", "edit_file", "effectful")
    assert (preset("careful").window.mark, preset("careful").compact.keep) == (0.7, 0.1)
    assert preset("frugal").window.mark == 0.5
    assert demo.window.limit == 24_000


def test_without_a_mark_of_their_own_clear_and_compact_share_one() -> None:
    policy = preset("default")
    assert policy.clear_at == policy.compact_at == policy.window.mark


def test_valves_are_looked_at_first() -> None:
    assert preset("default").techniques[0] == "valves"


def test_the_smaller_of_a_number_and_its_share_counts() -> None:
    assert smaller(20_000, 0.15, 200_000) == 20_000
    assert smaller(20_000, 0.15, 24_000) == 3_600


def test_a_file_of_ones_own_lies_over_the_defaults(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text("[window]\nmark = 0.5\n")
    policy = load(str(own))
    assert (policy.window.mark, policy.window.hard) == (0.5, 0.85)
    assert load("demo") == preset("demo")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"window": {"markk": 0.5}}, "knows no key 'window.markk'. Did you mean 'window.mark'?"),
        ({"windoww": {"mark": 0.5}}, "knows no key 'windoww'. Did you mean 'window'?"),
        ({"window": {"mark": 1.5}}, "'window.mark' cannot be 1.5"),
        ({"window": {"mark": 0}}, "'window.mark' cannot be 0"),
        ({"clear": {"keep": -1}}, "'clear.keep' cannot be -1"),
        ({"compact": {"auto": "maybe"}}, "'compact.auto' cannot be 'maybe'"),
        ({"compact": 5}, "'compact' cannot be 5"),
        ({"recall": {"k": 0}}, "'recall.k' cannot be 0"),
    ],
)
def test_what_is_wrong_is_named_with_its_nearest_neighbour(given: dict[str, object], says: str) -> None:
    with pytest.raises(PolicyError) as caught:
        from_mapping(given)
    assert says in str(caught.value)


def test_an_unknown_preset_names_the_nearest_and_all() -> None:
    with pytest.raises(
        PolicyError, match=r"no policy named 'frugl'. Did you mean 'frugal'\? Known: default, "
    ):
        preset("frugl")


def test_a_file_that_cannot_be_read_or_is_no_toml_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="cannot be read"):
        load(str(tmp_path / "none.toml"))
    (tmp_path / "bad.toml").write_text("mark = = 1")
    with pytest.raises(PolicyError, match="not valid TOML"):
        load(str(tmp_path / "bad.toml"))


def test_a_changed_copy_is_checked_like_a_file() -> None:
    policy = preset("default").changed(window={"mark": 0.4})
    assert policy.window.mark == 0.4
    with pytest.raises(PolicyError):
        policy.changed(window={"mark": 4})


def test_a_policy_survives_being_stored() -> None:
    policy = preset("demo")
    assert from_mapping(policy.model_dump(mode="json")) == policy


def test_what_a_run_keeps_can_be_read_by_workers_of_the_first_release() -> None:
    kept = preset("default").stored()
    assert "clear_thinking" not in kept
    assert not {"spiral_nudge", "spiral_pause"} & set(kept["valves"])
    assert from_mapping(kept) == preset("default")
    own = preset("default").changed(clear_thinking={"keep": 3}, valves={"spiral_pause": 9})
    assert from_mapping(own.stored()) == own
    assert own.stored()["clear_thinking"] == {"keep": 3}
