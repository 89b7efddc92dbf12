"""The management API. See `whenthen.web.api`."""

from mangum import Mangum

from whenthen.observability import observed
from whenthen.settings import settings
from whenthen.web.api import make_app
from whenthen.wiring import Runtime

handler = observed(Mangum(make_app(Runtime(settings())), lifespan="off"))
