"""The environment as one value: absence is the switch, a half-set group fails with a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdash import env

BOTH = {"REDIS_URL": "redis://localhost/0", "DATABASE_URL": "postgres://ada:s%40cret@db.example:5433/agents"}


def test_an_empty_environment_means_one_process_at_home() -> None:
    found = env.read({})
    assert found.embedded
    assert (found.home, found.address) == (Path.home() / ".agentdash", "http://127.0.0.1:8765")
    assert not found.has_key


@pytest.mark.parametrize("name", BOTH)
def test_a_half_set_group_says_what_is_missing(name: str) -> None:
    (missing,) = set(BOTH) - {name}
    with pytest.raises(env.EnvironmentMistake, match=f"{name} is set but {missing} is missing"):
        env.read({name: BOTH[name]})


def test_both_mean_many_processes() -> None:
    assert not env.read(BOTH).embedded


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AGENTDASH_PORT", "http"),
        ("AGENTDASH_PORT", "0"),
        ("AGENTDASH_PORT", "70000"),
        ("AGENTDASH_PUBLIC_URL", "agents.example.org"),
        ("AGENTDASH_PUBLIC_URL", "https://agents.example.org/app"),
        ("AGENTDASH_UNSANDBOXED", "yes"),
    ],
)
def test_a_value_that_makes_no_sense_is_named(name: str, value: str) -> None:
    with pytest.raises(env.EnvironmentMistake, match=name):
        env.read({name: value})


def test_other_databases_and_brokers_are_refused() -> None:
    with pytest.raises(env.EnvironmentMistake, match="DATABASE_URL must begin with"):
        env.read(BOTH | {"DATABASE_URL": "mysql://localhost/agents"})
    with pytest.raises(env.EnvironmentMistake, match="REDIS_URL must begin with"):
        env.read(BOTH | {"REDIS_URL": "amqp://localhost"})


def test_a_database_address_is_taken_apart() -> None:
    found = env.database(BOTH["DATABASE_URL"])
    assert {key: found[key] for key in ("NAME", "USER", "PASSWORD", "HOST", "PORT")} == {
        "NAME": "agents",
        "USER": "ada",
        "PASSWORD": "s@cret",
        "HOST": "db.example",
        "PORT": "5433",
    }


def test_a_base_address_alone_is_a_way_to_an_llm() -> None:
    assert env.read({"ANTHROPIC_BASE_URL": "http://127.0.0.1:9000"}).has_key


def test_keys_do_not_show_in_the_value_that_holds_them() -> None:
    assert "sk-ant-1" not in repr(
        env.read({"ANTHROPIC_API_KEY": "sk-ant-1", "ANTHROPIC_AUTH_TOKEN": "sk-ant-1"})
    )


def test_prices_of_a_person_come_from_a_file_in_the_home(tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    assert env.prices(file) == {}
    file.write_text('["claude-x"]\ninput = 3.0\noutput = 15\n')
    assert env.prices(file) == {"claude-x": {"input": 3.0, "output": 15}}


@pytest.mark.parametrize("text", ["claude = 3", "[x", '["claude-x"]\ninput = "three"'])
def test_a_prices_file_that_makes_no_sense_gets_a_sentence(tmp_path: Path, text: str) -> None:
    file = tmp_path / "prices.toml"
    file.write_text(text)
    with pytest.raises(env.EnvironmentMistake, match=r"prices\.toml"):
        env.prices(file)
