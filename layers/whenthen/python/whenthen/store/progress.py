"""How far an execution has come: what its row keeps as JSON because no statement compares it."""

import json
from dataclasses import asdict, dataclass
from typing import Any

FACTS_SEPARATOR = "\x1f"
"""Stands between the facts of a final execution. No reason holds it."""


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
        Fingerprint of the applet's actions as they were when the first one was tried; empty before.
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
    """

    step: int = 0
    tries: int = 0
    deaths: int = 0
    reason: str = ""
    actions: str = ""
    attempts: tuple[dict[str, Any], ...] = ()
    finished_at: int | None = None
    note: str = ""
    trigger_service: str = ""
    run: int = 0

    @property
    def service(self) -> str:
        """The service that decided how it ended: that of the last action tried, or else the trigger's."""
        return next((a["service"] for a in reversed(self.attempts) if a.get("service")), self.trigger_service)

    @property
    def duration(self) -> int:
        """How long the last run took, from its first try of an action to the end of its last one, milliseconds."""
        started = [a["started_at"] for a in self.attempts if a.get("action") == 0 and a.get("number") == 1]
        return max(self.attempts[-1]["finished_at"] - started[-1], 0) if started else 0

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
        values["attempts"] = tuple(values.get("attempts", ()))
        return cls(**values)


def _fact(value: object) -> str:
    return str(value).replace(FACTS_SEPARATOR, " ")
