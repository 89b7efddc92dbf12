"""HTTP in: webhooks become events. See `whenthen.web.hooks`."""

from mangum import Mangum

from whenthen.observability import observed
from whenthen.settings import settings
from whenthen.web.hooks import make_app
from whenthen.wiring import Runtime

# Without lifespan="off" Mangum starts and stops the app at every request.
handler = observed(Mangum(make_app(Runtime(settings())), lifespan="off"))
