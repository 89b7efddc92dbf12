"""JMESPath expressions, with a bound on the work that one may cause.

The library stops at nothing: ``[@,@][]`` thirty times over is a list of a billion elements, in 240 characters.
So every step, and every list, object and text that a step makes, is paid for from a budget.
"""

from collections.abc import Mapping
from decimal import Context, Decimal, localcontext
from functools import lru_cache
from itertools import chain
from typing import Any

from jmespath.exceptions import EmptyExpressionError, JMESPathError, JMESPathTypeError, ParseError
from jmespath.functions import Functions, signature
from jmespath.parser import Parser
from jmespath.visitor import Options, TreeInterpreter

from whenthen.services.web.json_reading import value_text
from whenthen.services.web.numbers import EXACT, decimal_number, is_number, number_in

MAX_WORK = 4_000_000
"""Steps and values of one evaluation, some 2 seconds: ten passes over a usual document of the largest size."""

MAX_RESULT = 100_000
"""The most parts of a value that is watched."""

MAX_DEPTH = 100
"""The most lists and objects within each other in a value that is watched."""

_CHARACTERS_A_UNIT = 8


class ExpressionFailed(Exception):
    """The expression does not fit the document."""


def check_expression(text: str) -> None:
    """Refuse what is not an expression.

    Raises
    ------
    ValueError
        It is none, in words for its author.
    """
    _compiled(text)


def evaluate(text: str, document: Any) -> Any:
    """Return what the expression finds in a document that `read_json` gave; None when it finds nothing.

    Raises
    ------
    ExpressionFailed
        It asks for what the document's values can't do, for too much work, or for too large a value.
    """
    try:
        with localcontext(EXACT):
            value = _Interpreter(_Budget(MAX_WORK)).visit(_compiled(text), document)
        _Budget(MAX_RESULT).pay(value)
    except JMESPathTypeError as error:
        raise ExpressionFailed(
            f"The expression does not fit the document: {error.function_name}() takes "
            f"{' or '.join(error.expected_types)}, not {error.actual_type}."
        ) from error
    except _TooMuch as error:
        raise ExpressionFailed("The expression finds too much, or takes too long; narrow it down.") from error
    except RecursionError as error:
        raise ExpressionFailed("The expression or what it finds is nested too deeply.") from error
    except JMESPathError as error:
        raise ExpressionFailed(f"The expression can't be evaluated: {str(error).partition('\n')[0][:200]}") from error
    except (ArithmeticError, AttributeError, LookupError, NotImplementedError, TypeError, ValueError) as error:
        # What the library does not catch itself, such as a number within a text.
        raise ExpressionFailed("The expression does not fit the document.") from error
    _check_depth(value)
    return value


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH):
        parts = (item.values() if isinstance(item, dict) else item for item in level if isinstance(item, list | dict))
        level = list(chain.from_iterable(parts))
        if not level:
            return
    raise ExpressionFailed("What the expression finds is nested too deeply.")


class _TooMuch(Exception):
    """The budget is used up."""


class _Budget:
    def __init__(self, units: int) -> None:
        self._left = units

    def spend(self, units: int) -> None:
        self._left -= units
        if self._left < 0:
            raise _TooMuch

    def pay(self, value: Any) -> None:
        """Pay for a value by the parts it would have if it were written out: parts may be shared a billion times."""
        stack = [value]
        while stack:
            item = stack.pop()
            match item:
                case str():
                    self.spend(1 + len(item) // _CHARACTERS_A_UNIT)
                case list() | dict():
                    self.spend(1)
                    # What is sure to be too much is not put on the stack first.
                    if len(item) > self._left:
                        raise _TooMuch
                    if isinstance(item, dict):
                        self.spend(sum(map(len, item)) // _CHARACTERS_A_UNIT)
                    stack.extend(item.values() if isinstance(item, dict) else item)
                case Decimal():
                    self.spend(1 + abs(item.adjusted()) // _CHARACTERS_A_UNIT)
                case None | bool() | int():
                    self.spend(1)
                case _:
                    raise ExpressionFailed("The expression is one that functions take, and finds no value.")


@lru_cache(maxsize=256)
def _compiled(text: str) -> Any:
    try:
        return _exact(Parser().parse(text).parsed)
    except EmptyExpressionError as error:
        raise ValueError("must not be empty") from error
    except ParseError as error:
        raise ValueError(
            f"must be a JMESPath expression; it can't be read from character {(error.lex_position or 0) + 1} on"
        ) from error
    except RecursionError as error:
        raise ValueError("must not be nested so deeply") from error


def _exact(node: Any) -> Any:
    """Return a part of an expression with its literal numbers as exact as those of documents."""
    match node:
        case float():
            return decimal_number(repr(node))
        case Mapping():
            return {name: _exact(part) for name, part in node.items()}
        case list():
            return [_exact(part) for part in node]
    return node


_MAKING = {
    "filter_projection",
    "flatten",
    "function_expression",
    "multi_select_dict",
    "multi_select_list",
    "projection",
    "slice",
    "value_projection",
}
"""Nodes whose value is a new one, not a part of another."""


class _Interpreter(TreeInterpreter):
    def __init__(self, budget: _Budget) -> None:
        super().__init__(Options())
        self._budget = budget
        self._exact_functions = _ExactFunctions(budget)

    def visit(self, node: Any, *args: Any, **kwargs: Any) -> Any:
        self._budget.spend(1)
        value = super().visit(node, *args, **kwargs)
        if node["type"] in _MAKING:
            self._budget.pay(value)
        return value

    def visit_function_expression(self, node: Any, value: Any) -> Any:
        arguments = [self.visit(child, value) for child in node["children"]]
        for argument, child in zip(arguments, node["children"], strict=True):
            if child["type"] != "expref":
                self._budget.pay(argument)
        return self._exact_functions.call_function(node["value"], arguments)

    def visit_comparator(self, node: Any, value: Any) -> Any:
        left, right = (self.visit(child, value) for child in node["children"])
        if node["value"] in ("eq", "ne"):
            self._budget.pay(left)
            return self.COMPARATOR_FUNC[node["value"]](left, right)
        # Text and numbers have no order between them, which the library finds out too late.
        if (is_number(left) and is_number(right)) or (isinstance(left, str) and isinstance(right, str)):
            return self.COMPARATOR_FUNC[node["value"]](left, right)
        return None


class _ExactFunctions(Functions):
    """The functions of JMESPath, over numbers that are `int` and `Decimal`."""

    def __init__(self, budget: _Budget) -> None:
        self._budget = budget

    def _get_allowed_pytypes(self, types: Any) -> Any:
        allowed, parts = super()._get_allowed_pytypes(types)  # type: ignore[misc]
        return _with_decimal(allowed), [_with_decimal(part) for part in parts]

    def _convert_to_jmespath_type(self, pyobject: Any) -> Any:
        return "number" if pyobject == "Decimal" else super()._convert_to_jmespath_type(pyobject)  # type: ignore[misc]

    @signature({"types": []})
    def _func_type(self, arg: Any) -> Any:
        return self._convert_to_jmespath_type(type(arg).__name__)

    @signature({"types": []})
    def _func_to_number(self, arg: Any) -> Any:
        if is_number(arg):
            return arg
        return number_in(arg) if isinstance(arg, str) else None

    @signature({"types": []})
    def _func_to_string(self, arg: Any) -> Any:
        _Budget(MAX_RESULT).pay(arg)
        return "null" if arg is None else value_text(arg)

    @signature({"types": ["string"]}, {"types": ["array-string"]})
    def _func_join(self, separator: Any, array: Any) -> Any:
        self._budget.spend(len(separator) * len(array) // _CHARACTERS_A_UNIT)
        return separator.join(array)

    @signature({"types": ["array-number"]})
    def _func_avg(self, arg: Any) -> Any:
        return Context().divide(Decimal(sum(arg)), Decimal(len(arg))) if arg else None


def _with_decimal(names: Any) -> list[str]:
    return [*names, "Decimal"] if "float" in names else list(names)
