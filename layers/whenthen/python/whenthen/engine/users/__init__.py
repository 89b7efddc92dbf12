"""Users of the console: who may sign in, with which password, and for how long."""

from whenthen.engine.users.errors import SignInRefused, SignInThrottled
from whenthen.engine.users.sessions import Session
from whenthen.engine.users.user import User
from whenthen.engine.users.users import Users

__all__ = ["Session", "SignInRefused", "SignInThrottled", "User", "Users"]
