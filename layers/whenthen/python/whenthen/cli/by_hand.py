"""The poller's minute by hand. Where no queue is set it does by itself what it would have passed on."""

from whenthen.clock import Deadline
from whenthen.engine.orders import Order
from whenthen.engine.tick import TickReport, tick
from whenthen.engine.wakeups import read_wakeup
from whenthen.queues.memory import MemoryQueue
from whenthen.settings import Settings
from whenthen.wiring import Runtime

_TICK_SECONDS = 60.0
_BATCH_SECONDS = 60.0


def tick_by_hand(settings: Settings, now: int) -> TickReport:
    """Do the tick of the instant `now`, epoch milliseconds.

    Raises
    ------
    NotConfigured
        ALOPEX_URL is not set: the engine in this process belongs to `whenthen run` alone.
    WhenthenError
        As of `engine.tick.tick`.
    """
    orders, wakeups = MemoryQueue(), MemoryQueue()
    runtime = Runtime(
        settings,
        wakeups=None if settings.wakeup_queue_url else wakeups,
        arrivals=None if settings.intake_queue_url else MemoryQueue(),
        check_orders=None if settings.check_queue_url else orders,
    )
    report = tick(
        runtime.history,
        runtime.intake,
        runtime.wakeups,
        runtime.arrivals,
        runtime.checks,
        runtime.housekeeping,
        now=now,
        deadline=Deadline(_TICK_SECONDS),
    )
    while received := orders.receive(wait_seconds=0):
        runtime.checks.run([Order.read(message.body) for message in received], Deadline(_BATCH_SECONDS))
        for message in received:
            orders.delete(message)
    while received := wakeups.receive(wait_seconds=0):
        runtime.worker.run([read_wakeup(message.body) for message in received], Deadline(_BATCH_SECONDS))
        for message in received:
            wakeups.delete(message)
    runtime.database.close()
    return report
