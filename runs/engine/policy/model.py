"""The policy as typed values. The defaults stand in default.toml and nowhere else."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

HERE = Path(__file__).parent

LATER = (
    ("clear_thinking", "at", "keep", "frees"),
    ("valves", "spiral_nudge", "spiral_pause"),
)
"""Sections and their keys that the first release did not have."""

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


class PolicyError(ValueError):
    """A policy that cannot be read. The message names the key and the cure."""


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class WindowPolicy(Section):
    limit: Count
    reserve: Count
    mark: Annotated[float, Field(gt=0, le=1)]
    hard: Annotated[float, Field(gt=0, le=1)]


class OffloadPolicy(Section):
    result_tokens: Count
    result_share: Share
    message_tokens: Count
    message_share: Share
    head_lines: Count
    tail_lines: Count


class ClearPolicy(Section):
    at: Share
    keep: Count
    frees: Share
    key_lines: Count
    exclude: tuple[str, ...]


class ClearThinkingPolicy(Section):
    at: Share
    keep: Count
    frees: Share


class CompactPolicy(Section):
    at: Share
    keep: Share
    keep_messages: Count
    keep_cap: Share
    every_turns: Count
    min_new_turns: Count
    method: Literal["summary", "clear", "both"]
    auto: Literal["apply", "off"]
    llm: str
    prompt: str


class EpisodePolicy(Section):
    tokens: Count
    share: Share
    ledger_tokens: Count
    ledger_share: Share


class NotesPolicy(Section):
    on: bool
    tokens: Count
    share: Share
    mirror: Literal["run", "workspace"]


class RecallPolicy(Section):
    k: Annotated[int, Field(ge=1, le=50)]
    tokens: Count
    share: Share


class ValvesPolicy(Section):
    turns: Count
    usd: Annotated[float, Field(ge=0)]
    tokens: Count
    minutes: Count
    spin_nudge: Count
    spin_pause: Count
    spiral_nudge: Count
    spiral_pause: Count


class ApprovalPolicy(Section):
    tools: tuple[str, ...]
    on_unknown: Literal["tell_agent", "wait"]


class Policy(Section):
    """All sections. `at(...)` methods give tokens for a limit; shares are of that limit."""

    techniques: tuple[str, ...]
    window: WindowPolicy
    offload: OffloadPolicy
    clear: ClearPolicy
    clear_thinking: ClearThinkingPolicy
    compact: CompactPolicy
    episode: EpisodePolicy
    notes: NotesPolicy
    recall: RecallPolicy
    valves: ValvesPolicy
    approval: ApprovalPolicy

    @property
    def clear_at(self) -> float:
        return self.clear.at or self.window.mark

    @property
    def compact_at(self) -> float:
        return self.compact.at or self.window.mark

    def stored(self) -> dict[str, Any]:
        """As a run keeps it. Keys that came after the first release are left out while they say what the defaults say:
        its workers know them not, and may still be at work beside ours."""
        whole, usual = self.model_dump(mode="json"), from_mapping({}).model_dump(mode="json")
        for section, *keys in LATER:
            for key in keys:
                if whole[section][key] == usual[section][key]:
                    del whole[section][key]
            if not whole[section]:
                del whole[section]
        return whole

    def changed(self, **sections: Mapping[str, Any]) -> Policy:
        """A copy with some keys of some sections replaced, checked like a file."""
        return from_mapping(sections, base=self.model_dump())


def smaller(tokens: int, share: float, limit: int) -> int:
    """A token number and its twin, the share of the limit: the smaller counts."""
    return min(tokens, int(share * limit))


def from_mapping(given: Mapping[str, Any], base: Mapping[str, Any] | None = None) -> Policy:
    """A policy from nested keys laid over `base` (the defaults when absent). Raises PolicyError."""
    merged = _laid_over(base if base is not None else _defaults(), given)
    try:
        return Policy.model_validate(merged)
    except ValidationError as error:
        raise PolicyError(_sentence(error)) from None


def preset(name: str) -> Policy:
    if name == "default":
        return from_mapping({})
    if name not in presets():
        near = difflib.get_close_matches(name, presets(), 1) or list(presets())
        known = ", ".join(presets())
        raise PolicyError(f"There is no policy named {name!r}. Did you mean {near[0]!r}? Known: {known}.")
    return from_mapping(_toml(HERE / f"{name}.toml"))


@cache
def presets() -> tuple[str, ...]:
    names = sorted(path.stem for path in HERE.glob("*.toml"))
    return ("default", *(name for name in names if name != "default"))


def load(name_or_path: str) -> Policy:
    """A preset by name, or a .toml file of one's own laid over the defaults."""
    if not name_or_path.endswith(".toml"):
        return preset(name_or_path)
    return from_mapping(_toml(Path(name_or_path)))


@cache
def _defaults() -> dict[str, Any]:
    return _toml(HERE / "default.toml")


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PolicyError(f"The policy file {path} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PolicyError(f"The policy file {path} is not valid TOML: {error}.") from None


def _laid_over(base: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in given.items():
        if isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
            merged[key] = _laid_over(merged[key], value)
        else:
            merged[key] = value
    return merged


def _sentence(error: ValidationError) -> str:
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    if first["type"] == "extra_forbidden":
        return f"The policy knows no key {'.'.join(path)!r}.{_nearest(path)}"
    return f"The policy key {'.'.join(path)!r} cannot be {first.get('input')!r}: {first['msg']}."


def _nearest(path: list[str]) -> str:
    model: Any = Policy
    for part in path[:-1]:
        model = model.model_fields[part].annotation
    near = difflib.get_close_matches(path[-1], list(model.model_fields), 1, cutoff=0.4)
    return f" Did you mean {'.'.join([*path[:-1], near[0]])!r}?" if near else ""
