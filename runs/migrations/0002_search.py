"""The search index: contentless FTS5 on SQLite, tsvector with GIN on Postgres. store/search says how it is used."""

from typing import Any

from django.db import migrations

SQLITE = """CREATE VIRTUAL TABLE runs_search USING fts5(
    folded, content='', tokenize="ascii"
)"""

POSTGRES = (
    "CREATE TABLE runs_search (id bigint NOT NULL, part integer NOT NULL, folded tsvector NOT NULL, PRIMARY KEY (id, part))",
    "CREATE INDEX runs_search_folded ON runs_search USING gin (folded)",
)


def make(apps: Any, editor: Any) -> None:
    for statement in POSTGRES if editor.connection.vendor == "postgresql" else (SQLITE,):
        editor.execute(statement)


def drop(apps: Any, editor: Any) -> None:
    editor.execute("DROP TABLE runs_search")


class Migration(migrations.Migration):
    dependencies = [("runs", "0001_tables")]
    operations = [migrations.RunPython(make, drop)]
