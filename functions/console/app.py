"""Pages and management API. See `whenthen.web.site`."""

from mangum import Mangum

from whenthen.observability import observed
from whenthen.settings import settings
from whenthen.web.site import make_app
from whenthen.wiring import Runtime

handler = observed(Mangum(make_app(Runtime(settings())), lifespan="off"))
