"""A run under construction: the engine's own window, gauge and renderer, and the archive's own door."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runs.engine import events as ev
from runs.engine import tokens
from runs.engine.messages import Author, Counted, Kind, Message, Role, sha256, text
from runs.engine.window.head import head
from runs.engine.window.versions import steady
from runs.store import archive, lease
from tests import story
from tests.ground import Ground, cost_of, result_of


class Building(Ground):
    """Takes the steps of a story, one turn each, and makes room in the window as the policy would."""

    def take(self, step: story.Step) -> None:
        """One turn: what a person said before it, the edits it makes due, the answer, its calls and their results."""
        self.turn += 1
        if step.said:
            self.say(step.said)
        self.make_room()
        if step.trouble:
            self.lose(step.trouble)
        self.open(attempt=2 if step.trouble else 1)
        self.answer(step)

    def say(self, words: str, by: str = "ada") -> None:
        message = self._message(Role.USER, Author.PERSON, Kind.SAY, [text(words)], by=by)
        self._write(ev.Said(turn=self.turn, message=message))
        self.window.append(message)

    def open(self, attempt: int = 1) -> None:
        reading = self._read()
        rendered = self.renderer.render(self.frame, self.window.entries, self.window.calls(), self.turn)
        self._write(
            ev.TurnOpened(
                turn=self.turn,
                attempt=attempt,
                frame=self.frame,
                version=self.window.version.number,
                upto=self.window.upto,
                estimate=reading.tokens,
                request_sha256=rendered.request.sha256,
            )
        )

    def lose(self, reason: str) -> None:
        self.open()
        self._write(
            ev.TurnLost(turn=self.turn, attempt=1, reason=reason, partial="The writer looks", cost=900),
            ev.LlmRetry(turn=self.turn, status=529, wait_ms=1800, tries=1),
        )

    def answer(self, step: story.Step) -> None:
        calls = [self._planned(call, at) for at, call in enumerate(step.calls)]
        blocks: list[dict[str, Any]] = []
        if step.thinking:
            blocks.append(
                {"type": "thinking", "thinking": step.thinking, "signature": sha256(step.thinking.encode())}
            )
        blocks.append(dict(text(step.words)))
        blocks += [{"type": "tool_use", "id": c.id, "name": c.name, "input": dict(c.input)} for c in calls]
        message = self._message(Role.ASSISTANT, Author.LLM, Kind.ANSWER, blocks, counted=Counted.USAGE)
        usage, cost = self._usage(message)
        self.gauge.learn(self.window.version.number, self.window.upto, usage, self._shown())
        self._write(
            ev.TurnAnswered(
                turn=self.turn,
                attempt=2 if step.trouble else 1,
                stop_reason="tool_use" if calls else "end_turn",
                usage=usage,
                message=message,
                calls=tuple(calls),
                first_token_ms=420 + 13 * (self.turn % 17),
                ms=2400 + 170 * (self.turn % 11),
                cost=cost,
            )
        )
        self.window.append(message)
        self._act(step, calls, cost)

    def make_room(self) -> None:
        """At the mark (60 %): clearing first, then a compaction, in turn; each with its line in the log."""
        reading = self._read()
        share = reading.tokens / self.limit
        fired = share >= 0.6
        technique = "compact" if self.cleared else "clear_results"
        if self.turn % 5 == 0 or fired:
            why = f"{share:.0%} {'≥' if fired else '<'} 60%"
            verdict = "fired" if fired else "not fired"
            check = ev.Checked(
                turn=self.turn, technique=technique, value=share, threshold=0.6, verdict=verdict, why=why
            )
            self._write(check)
        if fired and not self.cleared:
            self.clear_results()
        elif fired:
            self.compact()

    def clear_results(self, keep: int = 3) -> None:
        """Old results become markers; the newest three stay."""
        listed = list(self.window.entries)
        results = [entry.message.number for entry in listed if entry.message.kind is Kind.RESULTS]
        old = set(results[:-keep])
        items = [
            ev.Item(message=e.message.number, form=ev.Form.CLEARED if e.message.number in old else e.form)
            for e in listed
        ]
        self._edit(items, (), kind="clear_results", method="clear", reason="the mark is reached")
        self.cleared = True

    def compact(self, keep: int = 6, by: str = "", trigger: ev.Trigger = ev.Trigger.AUTO) -> None:
        """Everything but the goal, the person's messages and the tail becomes an episode."""
        listed = list(self.window.entries)
        cut = next(at for at in range(len(listed) - keep, 0, -1) if listed[at].message.kind is Kind.ANSWER)
        folded = [e.message for e in listed[:cut] if not e.message.is_persons]
        self.episodes += 1
        episode = ev.Episode(
            number=self.episodes,
            first_turn=max(1, min(message.turn for message in folded)),
            last_turn=max(message.turn for message in folded),
            text=story.EPISODE,
            ledger=story.LEDGER,
            tokens=tokens.estimate(story.EPISODE + story.LEDGER),
            folds=self.episodes - 1,
        )
        self._write(ev.CompactionStarted(turn=self.turn, edit=self.edits + 1, why="the mark is reached"))
        added = head(self.message + 1, self.turn, self.notes, 1500, episode)
        self.message += len(added)
        kept = [e.item for e in listed[:cut] if e.message.is_persons]
        items = [*kept, *(ev.Item(message=m.number) for m in added), *(e.item for e in listed[cut:])]
        usage = ev.Usage(input=2, cache_read=self._read().tokens, output=episode.tokens)
        self._edit(
            items,
            tuple(added),
            kind="compact",
            method="summary",
            reason="the mark is reached",
            episode=episode,
            usage=usage,
            cost=cost_of(usage),
            ms=6400,
            by=by,
            trigger=trigger,
        )
        self.cleared = False

    def rest(self, state: str, reason: str = "") -> None:
        """Leave the run in a state; only a running one keeps its worker."""
        change = None if state == "running" else archive.StateChange(state=state, reason=reason)
        if change:
            archive.append(self.claim, state=change)
            lease.release(self.claim)

    def _act(self, step: story.Step, calls: Sequence[ev.PlannedCall], cost: int) -> None:
        """Calls that have effects are recorded around their execution, pure ones with the turn's end."""
        ended: list[ev.CallEnded] = []
        for call, given in zip(calls, step.calls, strict=True):
            end = self._ended(call, given)
            if call.effect is ev.Effect.PURE:
                ended.append(end)
                continue
            self._write(ev.CallStarted(turn=self.turn, call=call))
            self._write(end)
        for note in step.notes:
            self.notes.append(self._note(note))
            self._write(ev.NoteChanged(turn=self.turn, note=self.notes[-1]))
        if step.recalls:
            self._write(ev.Recalled(turn=self.turn, query=step.recalls, hits=2))
        self._close(calls, step, ended, cost)

    def _close(
        self, calls: Sequence[ev.PlannedCall], step: story.Step, ended: Sequence[ev.CallEnded], cost: int
    ) -> None:
        message = None
        if calls:
            blocks = [result_of(call, given) for call, given in zip(calls, step.calls, strict=True)]
            message = self._message(Role.USER, Author.TOOL, Kind.RESULTS, blocks)
            self.window.append(message)
        reading = self._read()
        self._write(
            ev.TurnClosed(
                turn=self.turn,
                message=message,
                window=reading.tokens,
                limit=self.limit,
                parts=reading.parts,
                cost=cost,
                estimated=reading.estimated,
                ended=tuple(ended),
                final=not calls,
            )
        )

    def _edit(self, items: Sequence[ev.Item], added: tuple[Message, ...], **about: Any) -> None:
        before = self.window.version
        self.edits += 1
        self.version += 1
        base = max([self.window.upto, *(message.number for message in added)])
        after = ev.Version(
            number=self.version,
            parent=before.number,
            edit=self.edits,
            base=base,
            items=tuple(items),
            steady=steady(items, before),
        )
        tokens_before = self._read().tokens
        self.window.adopt(after, added)
        about.setdefault("trigger", ev.Trigger.AUTO)
        edit = ev.Edit(
            number=self.edits,
            turn=self.turn,
            before=before,
            after=after,
            added=added,
            tokens_before=tokens_before,
            tokens_after=self._read().tokens,
            **about,
        )
        self._write(ev.WindowEdited(turn=self.turn, edit=edit))
