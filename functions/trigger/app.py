"""HTTP in: webhooks become events. See `whenthen.web.hooks`."""

from mangum import Mangum

from whenthen.observability import logger
from whenthen.settings import settings
from whenthen.web.hooks import make_app
from whenthen.wiring import Runtime

# Without lifespan="off" Mangum starts and stops the app at every request.
handler = logger.inject_lambda_context(Mangum(make_app(Runtime(settings())), lifespan="off"))
