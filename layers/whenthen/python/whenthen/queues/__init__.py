"""The two queues: wake-ups for the worker, and arrivals that the database could not take."""

from whenthen.queues.base import Queue, Received

__all__ = ["Queue", "Received"]
