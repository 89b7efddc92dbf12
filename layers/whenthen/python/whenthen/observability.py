"""What the functions add to AWS: their log as lines of JSON, and metrics in CloudWatch's embedded format.

Engine modules log through ``logging`` and count through `whenthen.metrics`; neither knows of this one.
"""

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools import Logger, Metrics

from whenthen import metrics

type Handler = Callable[[dict[str, Any], Any], Any]

# The name is the package's: its modules' loggers are children of this one.
logger = Logger(service="whenthen")

# Namespace and `service`, the one dimension, come from the environment: two stacks of an account are kept apart.
_emf = Metrics()

_collector = metrics.Collector()
metrics.collect_into(_collector)


def observed(handler: Handler) -> Handler:
    """Return a function's handler with a log and metrics.

    Each line of the log carries the invocation's request id and, behind the HTTP API, the API's. Metrics are written
    once, at the end of the invocation, also when it fails.
    """

    def observing(event: dict[str, Any], context: Any) -> Any:
        # Set anew each time, also to None: keys stay with the logger.
        logger.append_keys(api_request_id=event.get("requestContext", {}).get("requestId"))
        try:
            return handler(event, context)
        finally:
            _flush()

    return logger.inject_lambda_context(observing)


def _flush() -> None:
    for metric, values in _collector.take():
        for value in values:
            _emf.add_metric(metric, metric.unit, value)
    # A flush of nothing warns.
    if _emf.metric_set:
        _emf.flush_metrics()
