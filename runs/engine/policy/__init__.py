"""The numbers that govern the window: a typed value, made from TOML, refused with a sentence when wrong."""

from .model import Policy, PolicyError, load, preset, presets

__all__ = ["Policy", "PolicyError", "load", "preset", "presets"]
