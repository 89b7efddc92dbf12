"""How far an execution has come: what its row keeps as JSON because no statement compares it."""

import json
from dataclasses import asdict, dataclass
from typing import Any


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
    """

    step: int = 0
    tries: int = 0
    deaths: int = 0
    reason: str = ""
    actions: str = ""
    attempts: tuple[dict[str, Any], ...] = ()
    finished_at: int | None = None
    note: str = ""

    def to_json(self) -> str:
        """Return the progress as the store keeps it."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "Progress":
        """Return the progress that `to_json` wrote; ``{}`` is that of a new execution."""
        values = json.loads(text)
        values["attempts"] = tuple(values.get("attempts", ()))
        return cls(**values)
