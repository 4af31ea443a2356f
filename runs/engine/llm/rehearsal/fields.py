"""Which keys a request, a message and a block may have, and their kinds: the API refuses everything else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .wire import Invalid

EXTRA = "{path}: Extra inputs are not permitted"
REQUIRED = "{path}: Field required"

_BODY = frozenset(
    {
        "model", "messages", "max_tokens", "system", "tools", "tool_choice", "stop_sequences", "stream",
        "thinking", "output_config", "cache_control", "metadata", "service_tier", "speed", "container",
        "diagnostics", "inference_geo",
    }
)  # fmt: skip
_SAMPLING = frozenset({"temperature", "top_p", "top_k"})
_BETA_OF = {
    "context_management": "context-management-",
    "compaction": "compact-2026-09-04",
    "thread": "message-threads-",
    "fallbacks": "",
    "fallback_credit_token": "",
    "mcp_servers": "mcp-client-",
    "billing_policy": "",
}
_BLOCKS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "text": (frozenset({"text"}), frozenset({"citations", "cache_control"})),
    "image": (frozenset({"source"}), frozenset({"cache_control"})),
    "document": (frozenset({"source"}), frozenset({"title", "context", "citations", "cache_control"})),
    "search_result": (frozenset({"source", "title", "content"}), frozenset({"citations", "cache_control"})),
    "thinking": (frozenset({"thinking", "signature"}), frozenset()),
    "redacted_thinking": (frozenset({"data"}), frozenset()),
    "tool_use": (frozenset({"id", "name", "input"}), frozenset({"cache_control", "caller"})),
    "tool_result": (frozenset({"tool_use_id"}), frozenset({"content", "is_error", "cache_control"})),
    "server_tool_use": (frozenset({"id", "name", "input"}), frozenset({"cache_control", "caller"})),
    "web_search_tool_result": (frozenset({"tool_use_id", "content"}), frozenset({"cache_control", "caller"})),
    "web_fetch_tool_result": (frozenset({"tool_use_id", "content"}), frozenset({"cache_control", "caller"})),
    "container_upload": (frozenset({"file_id"}), frozenset({"cache_control"})),
}
_IN_RESULT = frozenset({"text", "image", "document", "search_result", "tool_reference"})
_TOOL = frozenset({"name", "input_schema", "description", "cache_control", "type", "strict", "defer_loading"})
_ROLES = ("user", "assistant")
_SYSTEM_ROLE = (
    'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, '
    'not "system" as an input message role.'
)
_TAGS = "Input tag '{tag}' found using 'type' does not match any of the expected tags: {tags}"
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def check_body(body: Mapping[str, Any], *, beta: str, sampling: bool) -> None:
    """Top-level keys and kinds. `beta` is the anthropic-beta header; `sampling`: the llm still takes
    temperature."""
    for key in body:
        if key in _BODY or (sampling and key in _SAMPLING):
            continue
        if key not in _BETA_OF or not _has_beta(_BETA_OF[key], beta):
            raise Invalid(EXTRA.format(path=key))
    for key, kind, word in (("model", str, "string"), ("messages", list, "list")):
        if key not in body:
            raise Invalid(REQUIRED.format(path=key))
        if not isinstance(body[key], kind):
            raise Invalid(f"{key}: Input should be a valid {word}")
    for index, tool in enumerate(body.get("tools") or ()):
        _check_tool(index, tool)
    _check_names(body.get("tools") or ())


_UNSUPPORTED = {
    "compaction": "compaction_unavailable",
    "thread": "thread_unsupported_request",
    "context_management": "",
    "mcp_servers": "",
}


def check_supported(body: Mapping[str, Any]) -> None:
    """What the API does on its own side (threads, its compaction and clearing) is not rehearsed: said so,
    as a 400."""
    for key, code in _UNSUPPORTED.items():
        if key in body:
            raise Invalid(f"{key}: not available on this server", code=code)
    for number, message in enumerate(body["messages"]):
        for block in message["content"] if isinstance(message.get("content"), list) else ():
            if isinstance(block, dict) and block.get("type") == "compaction":
                first = (number, block) == (0, body["messages"][0]["content"][0])
                code = "compaction_block_signature_invalid" if first else "compaction_block_misplaced"
                raise Invalid(f"messages.{number}: the compaction block cannot be used here", code=code)


def _has_beta(wanted: str, given: str) -> bool:
    return bool(wanted) and any(name.strip().startswith(wanted) for name in given.split(","))


def _check_tool(index: int, tool: Mapping[str, Any]) -> None:
    for key in ("name", "input_schema"):
        if key not in tool:
            raise Invalid(REQUIRED.format(path=f"tools.{index}.custom.{key}"))
    for key in tool.keys() - _TOOL:
        raise Invalid(EXTRA.format(path=f"tools.{index}.custom.{key}"))
    if not _NAME.fullmatch(tool["name"]):
        raise Invalid(f"tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    if tool["input_schema"].get("type") != "object":
        raise Invalid(f"tools.{index}.custom.input_schema.type: Input should be 'object'")


def _check_names(tools: list[Mapping[str, Any]] | tuple[()]) -> None:
    names = [tool["name"] for tool in tools]
    if len(set(names)) < len(names):
        raise Invalid("tools: Tool names must be unique.")


def check_message(number: int, message: object, *, system_role: bool) -> None:
    """One message: its role, its keys, its blocks."""
    path = f"messages.{number}"
    if not isinstance(message, dict):
        raise Invalid(f"{path}: Input should be a valid dictionary")
    for key in ("role", "content"):
        if key not in message:
            raise Invalid(REQUIRED.format(path=f"{path}.{key}"))
    for key in message.keys() - {"role", "content"}:
        raise Invalid(EXTRA.format(path=f"{path}.{key}"))
    if message["role"] == "system" and not system_role:
        raise Invalid(_SYSTEM_ROLE)
    if message["role"] not in (*_ROLES, "system"):
        raise Invalid(f"{path}.role: Input should be 'user' or 'assistant'")
    if isinstance(message["content"], str):
        return
    if not isinstance(message["content"], list):
        raise Invalid(f"{path}.content: Input should be a valid list")
    for index, block in enumerate(message["content"]):
        check_block(f"{path}.content.{index}", block)


def check_block(path: str, block: object, tags: frozenset[str] | None = None) -> None:
    """One block: a known tag, all its keys and no others, ids and inputs of the right shape."""
    if not isinstance(block, dict):
        raise Invalid(f"{path}: Input should be a valid dictionary")
    kind = block.get("type")
    if kind is None:
        raise Invalid(REQUIRED.format(path=f"{path}.type"))
    known = sorted(tags or _BLOCKS)
    if kind not in known or kind not in _BLOCKS:
        tagged = ", ".join(f"'{tag}'" for tag in known)
        raise Invalid(f"{path}: {_TAGS.format(tag=kind, tags=tagged)}")
    required, optional = _BLOCKS[kind]
    for key in sorted(required - block.keys()):
        raise Invalid(REQUIRED.format(path=f"{path}.{kind}.{key}"))
    for key in sorted(block.keys() - required - optional - {"type"}):
        raise Invalid(EXTRA.format(path=f"{path}.{kind}.{key}"))
    _check_values(f"{path}.{kind}", block)


def _check_values(path: str, block: Mapping[str, Any]) -> None:
    for key in ("id", "tool_use_id"):
        if key in block and not _ID.fullmatch(str(block[key])):
            raise Invalid(f"{path}.{key}: String should match pattern '^[a-zA-Z0-9_-]+$'")
    if "name" in block and not _NAME.fullmatch(str(block["name"])):
        raise Invalid(f"{path}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    if "input" in block and not isinstance(block["input"], dict):
        raise Invalid(f"{path}.input: Input should be a valid dictionary")
    for key in ("text", "thinking", "signature"):
        if key in block and not isinstance(block[key], str):
            raise Invalid(f"{path}.{key}: Input should be a valid string")
    content = block.get("content")
    if block["type"] == "tool_result" and isinstance(content, list):
        for index, inner in enumerate(content):
            check_block(f"{path}.content.{index}", inner, _IN_RESULT)
