"""How the checking of an applet's trigger stands, as people are told of it."""

from dataclasses import dataclass

from whenthen.engine.check_results import Results, state_of
from whenthen.model.applet import Applet
from whenthen.services.registry import find_trigger
from whenthen.services.schedules.due import NEVER
from whenthen.services.schedules.fields import ClockFields
from whenthen.store.checks import CheckRow


@dataclass(frozen=True, slots=True)
class CheckShown:
    """A trigger's checks. Times are epoch milliseconds.

    Parameters
    ----------
    is_schedule:
        Whether it goes by the clock: then `next_at` is when it runs, otherwise when its source is asked.
    state:
        See `check_results.state_of`.
    next_at:
        None while the applet is off, and when it never runs again.
    """

    is_schedule: bool
    state: str
    results: Results
    checked_at: int | None
    next_at: int | None
    failures: int

    @property
    def found(self) -> int:
        """How many new events the last check has found."""
        return (self.results.last[0].found or 0) if self.results.last else 0


def shown(row: CheckRow | None, applet: Applet) -> CheckShown | None:
    """Return how the checks of an applet's trigger stand; None for one whose events arrive by themselves."""
    if row is None:
        return None
    trigger = find_trigger(applet.trigger.service, applet.trigger.trigger)
    # Another applet that has the same trigger may be on.
    next_at = row.next_check_at if applet.enabled else None
    return CheckShown(
        is_schedule=trigger is not None and issubclass(trigger.fields, ClockFields),
        state=state_of(row) if applet.enabled else "off",
        results=Results.read(row.result),
        checked_at=row.checked_at,
        next_at=next_at if next_at is not None and next_at < NEVER else None,
        failures=row.failures,
    )


def arrives(applet: Applet) -> bool:
    """Return whether events of the applet's trigger arrive by themselves."""
    trigger = find_trigger(applet.trigger.service, applet.trigger.trigger)
    return trigger is not None and trigger.check is None
