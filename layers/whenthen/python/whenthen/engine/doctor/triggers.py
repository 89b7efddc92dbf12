"""Triggers and those who listen to them; triggers and how they are checked."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from pydantic import ValidationError

from whenthen.clock import Deadline, isoformat
from whenthen.engine.applets import parse
from whenthen.engine.doctor.findings import LATE_MS, Finding, Item, Practice
from whenthen.engine.listening import listen, make_trigger
from whenthen.errors import FieldError
from whenthen.services.registry import find_trigger as find_definition
from whenthen.store import checks as check_store
from whenthen.store.applets import AppletRow, find_applet
from whenthen.store.checks import CheckRow
from whenthen.store.doctor import AppletHead, list_applets, list_checks, list_triggers, resume_check
from whenthen.store.errors import GuardFailed
from whenthen.store.statements import Script
from whenthen.store.triggers import TriggerRow, find_trigger, guard
from whenthen.store.units import run_unit

_TIMEOUT_SECONDS = 10.0


def wrong_listeners(practice: Practice) -> Iterator[Finding]:
    """Find triggers that set off applets that do not listen, and applets that listen and are not set off."""
    applets = list_applets(practice.history.hot)
    triggers = list_triggers(practice.history.hot)
    suspects = {
        (trigger.trigger_id, applet)
        for trigger in triggers.values()
        for applet in trigger.listeners
        if not _listens(applets.get(applet), trigger.trigger_id)
    }
    suspects |= {
        (applet.trigger_id, applet.applet_id)
        for applet in applets.values()
        if applet.is_on and not _has(triggers.get(applet.trigger_id), applet.applet_id)
    }
    # The two lists were not read at the same instant.
    told = {pair: words for pair in sorted(suspects) if (words := _difference(practice, *pair))}
    if told:
        yield Finding(
            "triggers and applets that do not agree",
            tuple(Item(f"trigger {trigger}, applet {applet}", words) for (trigger, applet), words in told.items()),
            "An applet that a trigger does not know is never set off; one that is off or gone is set off for nothing.",
            "Lets each trigger know exactly those applets that are on. One that begins to listen gets what comes from "
            "now on.",
            partial(_agree, practice, list(told)),
        )


def _listens(applet: AppletHead | AppletRow | None, trigger_id: str) -> bool:
    return applet is not None and applet.enabled and applet.deleted_at is None and applet.trigger_id == trigger_id


def _has(trigger: TriggerRow | None, applet_id: str) -> bool:
    return trigger is not None and applet_id in trigger.listeners


def _difference(practice: Practice, trigger_id: str, applet_id: str) -> str:
    """Return how trigger and applet differ, or nothing when they agree or are being changed right now."""
    hot = practice.history.hot
    before = find_trigger(hot, trigger_id)
    applet = find_applet(hot, applet_id)
    if find_trigger(hot, trigger_id) != before or _listens(applet, trigger_id) == _has(before, applet_id):
        return ""
    if before is None:
        return "the applet is on, and its trigger is not in the database"
    if applet is None:
        return "the trigger sets off an applet that is not in the database"
    if applet.deleted_at is not None:
        return "the trigger sets off an applet that is deleted"
    if applet.trigger_id != trigger_id:
        return "the trigger sets off an applet that has another trigger by now"
    return (
        "the applet is on, and its trigger does not set it off"
        if applet.enabled
        else ("the trigger sets off an applet that is off")
    )


def _agree(practice: Practice, pairs: list[tuple[str, str]]) -> list[str]:
    done = []
    for trigger_id, applet_id in pairs:
        try:
            listens = run_unit(
                partial(_set_right, practice, trigger_id, applet_id),
                deadline=Deadline(_TIMEOUT_SECONDS),
                repeatable=True,
            )
        except (FieldError, ValidationError) as error:
            done.append(f"applet {applet_id} was left as it is: {error}")
            continue
        done.append(f"trigger {trigger_id} {'sets off' if listens else 'does not set off'} applet {applet_id}")
    return done


def _set_right(practice: Practice, trigger_id: str, applet_id: str) -> bool:
    """Let the trigger know the applet exactly when that is on, and return whether it is.

    The trigger is read before the applet is read for the last time: every change of an applet changes the revision of
    its trigger too, which guards the script.
    """
    hot = practice.history.hot
    applet = find_applet(hot, applet_id)
    listens = _listens(applet, trigger_id)
    if applet is None:
        applet = AppletRow(
            applet_id, "", trigger_id, "", enabled=False, version=0, created_at=0, updated_at=0, deleted_at=0
        )
    elif listens:
        make_trigger(hot, applet, parse(applet), practice.checks)
    script = Script()
    listen(hot, script, replace(applet, trigger_id=trigger_id, enabled=listens), None, None)
    if _listens(find_applet(hot, applet_id), trigger_id) != listens:
        raise GuardFailed("version")
    hot.execute(script.sql)
    return listens


def wrong_checks(practice: Practice) -> Iterator[Finding]:
    """Find checks that lead to nothing, triggers that nobody checks, and claims that were left behind."""
    triggers = list_triggers(practice.history.hot)
    checks = list_checks(practice.history.hot)
    orphans = [
        row.check_id for row in checks.values() if row.next_check_at is not None and row.check_id not in triggers
    ]
    if orphans := [check_id for check_id in orphans if find_trigger(practice.history.hot, check_id) is None]:
        yield Finding(
            "checks without a trigger",
            tuple(Item(check_id, "its trigger is not in the database") for check_id in orphans),
            "They are claimed again and again, and each time nothing is done.",
            "Stops them.",
            partial(_stop, practice, orphans),
        )
    forgotten = [
        trigger
        for trigger in triggers.values()
        if trigger.listeners and _is_checked(trigger) and _is_idle(checks.get(trigger.trigger_id))
    ]
    if forgotten := [trigger for trigger in forgotten if _is_forgotten(practice, trigger)]:
        yield Finding(
            "triggers that nobody checks",
            tuple(Item(t.trigger_id, f"{t.service}.{t.trigger}, {len(t.listeners)} applets") for t in forgotten),
            "Applets listen to them, and what their sources show is never found.",
            "Lets them be checked now; what has come since the last check is found. One that was never checked begins "
            "with what comes from now on.",
            partial(_resume, practice, forgotten),
        )
    claims: dict[str, list[CheckRow]] = defaultdict(list)
    for row in checks.values():
        if row.claim and row.lease_until + LATE_MS <= practice.now and row.check_id not in orphans:
            claims[row.claim].append(row)
    if claims:
        yield Finding(
            "claims of checks that nobody is at",
            tuple(
                Item(row.check_id, f"its claim ran out at {isoformat(row.lease_until)}")
                for rows in claims.values()
                for row in rows
            ),
            "They are due, and the poller claims what is due every minute: either it does not run or its ticks fail.",
            "Gives the claims back. The poller checks them as soon as it runs.",
            partial(_give_back, practice, claims),
        )


def _is_checked(trigger: TriggerRow) -> bool:
    definition = find_definition(trigger.service, trigger.trigger)
    return definition is not None and definition.check is not None


def _is_idle(check: CheckRow | None) -> bool:
    return check is None or check.next_check_at is None


def _is_forgotten(practice: Practice, seen: TriggerRow) -> bool:
    """Return whether it still is as it was seen: who listens first starts its checks in the same script."""
    hot = practice.history.hot
    check = check_store.read_checks(hot, [seen.trigger_id]).get(seen.trigger_id)
    return _is_idle(check) and find_trigger(hot, seen.trigger_id) == seen


def _stop(practice: Practice, check_ids: list[str]) -> list[str]:
    for check_id in check_ids:
        script = Script()
        check_store.stop(script, check_id)
        practice.history.hot.execute(script.sql)
    return [f"stopped: the check {check_id}" for check_id in check_ids]


def _resume(practice: Practice, triggers: list[TriggerRow]) -> list[str]:
    done = []
    for trigger in triggers:
        definition = find_definition(trigger.service, trigger.trigger)
        script = Script()
        offline = definition is not None and definition.offline
        check_store.insert_check(script, trigger.trigger_id, offline=offline, host=practice.checks.host(trigger))
        resume_check(script, trigger.trigger_id, practice.now)
        guard(script, trigger)
        try:
            practice.history.hot.execute(script.sql)
        except GuardFailed:
            done.append(f"left: the trigger {trigger.trigger_id}, which has changed meanwhile")
            continue
        done.append(f"due now: the trigger {trigger.trigger_id}")
    return done


def _give_back(practice: Practice, claims: Mapping[str, list[CheckRow]]) -> list[str]:
    done = []
    for claim, rows in claims.items():
        for start in range(0, len(rows), check_store.MAX_CLAIMS):
            chunk = [row.check_id for row in rows[start : start + check_store.MAX_CLAIMS]]
            check_store.release(practice.history.hot, chunk, claim=claim)
            done += [f"given back: the check {check_id}" for check_id in chunk]
    return done
