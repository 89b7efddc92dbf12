"""The logger of the functions. Engine modules log through ``logging``; their loggers are its children."""

from aws_lambda_powertools import Logger

logger = Logger(service="whenthen")
