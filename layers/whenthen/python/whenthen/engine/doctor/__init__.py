"""The doctor: finds what can't be, says why it matters, and repairs what can be repaired without guessing.

Everything is looked for in whole tables, and everybody waits for the database meanwhile: by hand, and seldom.
"""

from dataclasses import dataclass

from whenthen.engine.doctor import events, slots, triggers
from whenthen.engine.doctor.findings import Finding, Item, Practice

__all__ = ["Finding", "Item", "Practice", "Report", "examine"]

_DAY_MS = 24 * 60 * 60_000


@dataclass(frozen=True, slots=True)
class Report:
    """What was found, and words about what could not be looked at."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...]


def examine(practice: Practice, *, days: int) -> Report:
    """Look for everything that is not as it should be. Changes nothing.

    Parameters
    ----------
    days:
        Events that were received in the last so many days are followed to their executions.

    Raises
    ------
    StoreError
        The database can't be asked now.
    """
    notes = []
    aside = tuple(slots.rows_aside(practice))
    # Events first: what they name is somewhere by the time that it is looked for.
    named = events.read_named(practice, practice.now - days * _DAY_MS)
    if named.share < 1:
        notes.append(f"Only {named.share:.0%} of the events were followed: there was no time for more.")
    executions = events.read_executions(practice)
    findings = [
        *triggers.wrong_listeners(practice),
        *triggers.wrong_checks(practice),
        *events.lost_applets(practice, executions),
        *events.lost_events(practice, named, executions),
    ]
    if aside:
        notes.append("Executions were not looked for in the history, where rows are set aside right now.")
    else:
        findings += events.lost_executions(practice, named, executions)
    findings += (*slots.stuck_claims(practice, executions), *slots.stuck_slots(practice, executions), *aside)
    return Report(tuple(findings), tuple(notes))
