"""Tables only. Shapes and names are a contract; what they mean together is in store/.

Blob, Message, Frame, Version, Event and closed Turn and Call rows are append-only, by triggers (store/triggers).
Money is microdollars. Leases are milliseconds of the database's clock. Where a foreign key has no index of its own,
a unique constraint begins with it, or nobody ever asks that way round: indexes were a tenth of the database.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models


class State(models.TextChoices):
    READY = "ready"
    RUNNING = "running"
    WAITING = "waiting"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


ENDED = (State.DONE, State.FAILED, State.STOPPED)


class Run(models.Model):
    """One agent at work on one goal. `slug` (r- and five characters) is its name outside."""

    slug = models.CharField(max_length=16, unique=True)
    title = models.CharField(max_length=200)
    goal = models.TextField()
    options = models.JSONField(default=dict)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="runs")
    workspace = models.TextField()
    origin = models.CharField(max_length=10, default="lived")
    parent = models.ForeignKey("self", models.PROTECT, null=True, related_name="children")
    parent_call = models.CharField(max_length=200, default="")
    depth = models.PositiveSmallIntegerField(default=0)
    forked_from = models.ForeignKey("self", models.PROTECT, null=True, related_name="forks")
    forked_turn = models.PositiveIntegerField(null=True)
    llm = models.CharField(max_length=100)
    policy = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State.choices, default=State.READY, db_index=True)
    reason = models.TextField(default="")
    turn_no = models.PositiveIntegerField(default=0)
    next_seq = models.PositiveIntegerField(default=1)
    head_hash = models.CharField(max_length=64, default="")
    version = models.PositiveIntegerField(default=0)
    lease_owner = models.CharField(max_length=100, default="")
    lease_until_ms = models.BigIntegerField(null=True)
    term = models.PositiveIntegerField(default=0)
    crash_streak = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    sums = models.JSONField(default=dict)

    def __str__(self) -> str:
        return self.slug


class Blob(models.Model):
    """Bytes by their hash: canonical JSON in UTF-8, compressed by `codec` ("" or "zstd")."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    size = models.PositiveIntegerField()
    codec = models.CharField(max_length=8, default="")
    body = models.BinaryField()


class Message(models.Model):
    """One line of the archive. `blob` holds its content blocks."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="messages", db_index=False)
    number = models.PositiveIntegerField()
    role = models.CharField(max_length=10)
    author = models.CharField(max_length=10)
    kind = models.CharField(max_length=10)
    blob = models.ForeignKey(Blob, models.PROTECT, db_index=False)
    turn = models.PositiveIntegerField()
    tokens = models.PositiveIntegerField()
    counted = models.CharField(max_length=10)
    by = models.CharField(max_length=150, default="")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="message_number")]
        indexes = [models.Index(fields=["run", "turn"])]


class Frame(models.Model):
    """What goes into a request besides messages; one row per change."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    llm = models.CharField(max_length=100)
    system = models.JSONField()
    tools = models.JSONField()
    params = models.JSONField()
    render = models.PositiveSmallIntegerField()


class Version(models.Model):
    """A window as an edit left it. `items`: [message, form, pinned] up to message `base`."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="versions", db_index=False)
    number = models.PositiveIntegerField()
    parent = models.PositiveIntegerField(default=0)
    edit = models.PositiveIntegerField(default=0)
    base = models.PositiveIntegerField()
    items = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="version_number")]


class Turn(models.Model):
    """One llm call and the calls it asked for. `status`: open, answered, closed, lost, cancelled."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="turns", db_index=False)
    number = models.PositiveIntegerField()
    attempt = models.PositiveSmallIntegerField()
    frame = models.ForeignKey(Frame, models.PROTECT, db_index=False)
    version = models.PositiveIntegerField()
    upto = models.PositiveIntegerField()
    request_sha256 = models.CharField(max_length=64)
    status = models.CharField(max_length=10, default="open")
    stop_reason = models.CharField(max_length=40, default="")
    usage = models.JSONField(default=dict)
    parts = models.JSONField(default=dict)
    window = models.PositiveIntegerField(default=0)
    limit = models.PositiveIntegerField(default=0)
    estimated = models.BooleanField(default=True)
    cost = models.BigIntegerField(default=0)
    first_token_ms = models.PositiveIntegerField(default=0)
    ms = models.PositiveIntegerField(default=0)
    cache_miss = models.CharField(max_length=100, default="")
    partial = models.TextField(default="")
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number", "attempt"], name="turn_attempt")]


class Call(models.Model):
    """One tool call. `effect`: pure, idempotent, effectful. `result` is the tool_result block, as a blob."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="calls", db_index=False)
    turn = models.PositiveIntegerField()
    tool_use_id = models.CharField(max_length=200)
    name = models.CharField(max_length=100)
    input_sha256 = models.CharField(max_length=64)
    effect = models.CharField(max_length=10)
    status = models.CharField(max_length=10, default="planned")
    key = models.CharField(max_length=64)
    term = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=100, default="")
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    ms = models.PositiveIntegerField(default=0)
    bytes = models.PositiveBigIntegerField(default=0)
    tokens = models.PositiveIntegerField(default=0)
    result = models.ForeignKey(Blob, models.PROTECT, null=True, related_name="+", db_index=False)
    late_result = models.ForeignKey(Blob, models.PROTECT, null=True, related_name="+", db_index=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "turn", "tool_use_id"], name="call_of_turn")]


class Episode(models.Model):
    run = models.ForeignKey(Run, models.PROTECT, related_name="episodes", db_index=False)
    number = models.PositiveIntegerField()
    first_turn = models.PositiveIntegerField()
    last_turn = models.PositiveIntegerField()
    text = models.TextField()
    ledger = models.TextField(default="")
    tokens = models.PositiveIntegerField(default=0)
    scores = models.JSONField(default=dict)
    folds = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="episode_number")]


class Note(models.Model):
    """One revision of a note; the newest counts."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="notes", db_index=False)
    number = models.PositiveIntegerField()
    revision = models.PositiveIntegerField()
    section = models.CharField(max_length=20)
    text = models.TextField()
    state = models.CharField(max_length=10, default="open")
    author = models.CharField(max_length=10)
    by = models.CharField(max_length=150, default="")
    turn = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number", "revision"], name="note_revision")]


class Order(models.Model):
    """What a person asked of a run; exactly one answer. `state`: pending, applied, merged, rejected, expired."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="orders")
    kind = models.CharField(max_length=20)
    args = models.JSONField(default=dict)
    by = models.CharField(max_length=150)
    at = models.DateTimeField()
    client_key = models.CharField(max_length=64, unique=True)
    seen_seq = models.PositiveIntegerField(null=True)
    state = models.CharField(max_length=10, default="pending")
    applied_seq = models.PositiveIntegerField(null=True)
    reason = models.TextField(default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "kind"],
                condition=models.Q(state="pending", kind__in=["compact", "clear", "pause", "stop"]),
                name="order_single_flight",
            )
        ]
        indexes = [
            models.Index(fields=["run", "state"]),
            # Workers ask several times a second what is pending, of all the orders there ever were.
            models.Index(fields=["run"], condition=models.Q(state="pending"), name="order_pending"),
        ]


class Edit(models.Model):
    """A change of the window. `state`: draft, applied, discarded, failed, undone. Versions by their number."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="edits", db_index=False)
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=20)
    method = models.CharField(max_length=20)
    trigger = models.CharField(max_length=10)
    state = models.CharField(max_length=10, default="applied")
    before = models.PositiveIntegerField()
    after = models.PositiveIntegerField(null=True)
    episode = models.PositiveIntegerField(null=True)
    order = models.ForeignKey(Order, models.PROTECT, null=True)
    by = models.CharField(max_length=150, default="")
    instructions = models.TextField(default="")
    tokens_before = models.PositiveIntegerField(default=0)
    tokens_after = models.PositiveIntegerField(null=True)
    cost = models.BigIntegerField(default=0)
    ms = models.PositiveIntegerField(default=0)
    reason = models.TextField(default="")
    turn = models.PositiveIntegerField()
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="edit_number")]


class Event(models.Model):
    """What happened, in order. `hash` = sha256(hash before ‖ canonical bytes of this one)."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="events", db_index=False)
    seq = models.PositiveIntegerField()
    kind = models.CharField(max_length=30)
    turn = models.PositiveIntegerField(default=0)
    at = models.DateTimeField()
    data = models.JSONField(default=dict)
    hash = models.CharField(max_length=64)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="event_seq")]


class Spend(models.Model):
    """What one llm call cost. `kind`: turn, compaction, check, lost, child."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="spends")
    turn = models.PositiveIntegerField()
    kind = models.CharField(max_length=12)
    llm = models.CharField(max_length=100)
    usage = models.JSONField(default=dict)
    cost = models.BigIntegerField(default=0)
