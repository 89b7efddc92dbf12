"""How far an execution has come: what its row keeps as JSON because no statement compares it."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

FACTS_SEPARATOR = "\x1f"
"""Stands between the facts of a final execution. No reason holds it."""

NO_FACTS = FACTS_SEPARATOR.join(("0", "0", "0", "0", "", "", "", ""))
"""The facts of one that has none."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an execution has come.

    Parameters
    ----------
    step:
        Index of the action that is next.
    tries:
        How often that action has been tried.
    deaths:
        How often a worker has died before it could send anything for that action.
    reason:
        Why the execution is in its state, in words for the owner; empty when there is nothing to say.
    actions:
        Fingerprint of the applet's actions as they were when the first run began; empty before.
    answers:
        The rows that the queries have given so far, a list a query.
    asked:
        Fingerprint of the queries that were asked.
    passed:
        Whether it has passed the filter and the cool-down.
    delayed:
        Index of the action whose delay has been set; -1 before. `waits_until` is when that ends, epoch milliseconds.
    only:
        Indexes of the actions that the owner wants run again; None for all.
    again:
        Whether the owner has asked for this run: it comes after a run, so it does not wait for the cool-down.
    attempts:
        Every try so far, see `engine.attempts`.
    finished_at:
        When it became final, epoch milliseconds, or None.
    note:
        What there was to say when it was reserved, for example that it came late; kept to the end.
    trigger_service:
        The service of the applet's trigger, known since the first run; empty before.
    run:
        How often it was put back from the history to run again.
    digest:
        Whether it sends a digest, the one that has the id of its event.
    """

    step: int = 0
    tries: int = 0
    deaths: int = 0
    reason: str = ""
    actions: str = ""
    answers: tuple[list[dict[str, str]], ...] = ()
    asked: str = ""
    passed: bool = False
    delayed: int = -1
    waits_until: int = 0
    only: tuple[int, ...] | None = None
    again: bool = False
    attempts: tuple[dict[str, Any], ...] = ()
    finished_at: int | None = None
    note: str = ""
    trigger_service: str = ""
    run: int = 0
    digest: bool = False

    @property
    def service(self) -> str:
        """The service that decided how it ended: that of the last action tried, or else the trigger's."""
        return next((a["service"] for a in reversed(self.attempts) if a.get("service")), self.trigger_service)

    @property
    def duration(self) -> int:
        """How long the last run took, from its first try to the end of its last one, milliseconds."""
        if not self.attempts:
            return 0
        run = runs_of(self.attempts)[-1]
        if "started_at" not in run[0]:
            return 0
        return max(int(run[-1]["finished_at"]) - int(run[0]["started_at"]), 0)

    def to_json(self) -> str:
        """Return the progress as the store keeps it.

        Of a final one with its `facts` in one text: the log is loaded by the database, which takes as long to read a
        value out of JSON as to store a row.
        """
        values = asdict(self)
        if self.finished_at is not None:
            values["facts"] = FACTS_SEPARATOR.join(map(_fact, self._facts()))
        return json.dumps(values, ensure_ascii=False, separators=(",", ":"))

    def _facts(self) -> tuple[object, ...]:
        # In the order in which `sql/statements/log.sql` splits them.
        return (
            self.finished_at,
            len(self.attempts),
            self.duration,
            self.run,
            self.service,
            self.trigger_service,
            self.reason,
            self.note,
        )

    @classmethod
    def from_json(cls, text: str) -> "Progress":
        """Return the progress that `to_json` wrote; ``{}`` is that of a new execution."""
        values = json.loads(text)
        values.pop("facts", None)
        for name in ("attempts", "answers"):
            values[name] = tuple(values.get(name, ()))
        if values.get("only") is not None:
            values["only"] = tuple(values["only"])
        # Rows of a version that kept no `passed`: who has begun has passed.
        values.setdefault("passed", bool(values.get("actions")))
        return cls(**values)


def runs_of(attempts: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the attempts of each run, in order: one begins with a first try of what had its turn before."""
    runs: list[list[dict[str, Any]]] = []
    for attempt in attempts:
        if not runs or (attempt.get("number") == 1 and _place(attempt) <= _place(runs[-1][-1])):
            runs.append([])
        runs[-1].append(attempt)
    return runs


def _place(attempt: dict[str, Any]) -> tuple[bool, int]:
    """Return where in a run the attempt comes: queries first."""
    return attempt.get("kind") != "query", attempt["action"]


def _fact(value: object) -> str:
    return str(value).replace(FACTS_SEPARATOR, " ")
