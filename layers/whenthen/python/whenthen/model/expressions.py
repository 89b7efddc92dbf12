"""Evaluates expressions: what stands between ``{{`` and ``}}``, and the filter of an applet."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import minijinja

from whenthen.model.expression_filters import FILTERS, TOO_MUCH_WORK, Skipped, Work
from whenthen.model.expression_syntax import Expression, read_expression
from whenthen.model.expression_tokens import ExpressionError
from whenthen.model.values import IngredientValue, compact_json, engine_value, quoted, text_of

__all__ = ["Evaluator", "ExpressionError", "FilterResult", "check_expression", "evaluate_filter"]

# The engine takes one for an instruction, for an item of a list and for 64 bytes of text (measured, minijinja
# 3.1): enough for a text of 256 KiB as a list of characters, and at most 64 MB of copying.
_FUEL = 1_000_000


@dataclass(frozen=True, slots=True)
class FilterResult:
    """Whether an event passed a filter, and what was odd about the ingredients.

    `reason` is what the filter gave to ``skip``, empty when it has not called it.
    """

    passed: bool
    notes: tuple[str, ...]
    reason: str = ""


class _Missing:
    """What the engine gives back for a value that is not there."""


_MISSING = _Missing()


def _engine() -> minijinja.Environment:
    engine = minijinja.Environment(
        fuel=_FUEL, undefined_behavior="chainable", debug=False, pycompat=False, filters=FILTERS
    )
    for name in engine.globals:
        engine.remove_global(name)
    return engine


_ENGINE = _engine()


class Evaluator:
    """Evaluates the expressions of one rendering, which share ingredients, notes and the limit on work."""

    def __init__(self, ingredients: Mapping[str, IngredientValue]) -> None:
        self._ingredients = ingredients
        self._work = Work()
        self._taken: dict[str, tuple[Any, int]] = {}
        self._notes: dict[str, None] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What was missing so far, each said once."""
        return tuple(self._notes)

    def evaluate(self, expression: Expression) -> Any:
        """Return the value of `expression`, None if it has none.

        Raises
        ------
        ExpressionError
            The values don't fit the expression, or there is too much to do.
        """
        absent = [name for name in expression.unguarded if name not in self._ingredients]
        for name in absent:
            self._notes[f"{name} is missing: empty text was used"] = None
        value = self._value(expression)
        if value is _MISSING or callable(value):
            if not absent:
                self._notes[f"{quoted(expression.text)} has no value: empty text was used"] = None
            return None
        return value

    def text(self, expression: Expression) -> str:
        """Return the value of `expression` as text.

        Raises
        ------
        ExpressionError
            As `evaluate`, or the value has no text, such as an infinite number.
        """
        try:
            return text_of(self.evaluate(expression))
        except ValueError as exc:
            raise ExpressionError(str(exc)) from exc

    def _value(self, expression: Expression) -> Any:
        try:
            if expression.is_one_name:
                return engine_value(self._ingredients.get(expression.text))
            context = {
                name: self._take(name, times) for name, times in expression.names.items() if name in self._ingredients
            }
            return _ENGINE.eval_expr(expression.code, **{**context, "_work": self._work, "_missing": _MISSING})
        except minijinja.TemplateError as exc:
            too_much = exc.kind == "OutOfFuel"
            raise ExpressionError(TOO_MUCH_WORK if too_much else exc.detail or str(exc.kind)) from exc
        except (TypeError, AttributeError) as exc:
            raise ExpressionError("a filter is given values that it can't work with") from exc
        except RecursionError as exc:
            raise ExpressionError("an ingredient is nested too deeply") from exc
        except (ValueError, ArithmeticError) as exc:
            raise ExpressionError(str(exc)) from exc

    def _take(self, name: str, times: int) -> Any:
        if name not in self._taken:
            value = engine_value(self._ingredients[name])
            size = len(compact_json(value)) if isinstance(value, list | dict) else len(text_of(value))
            self._taken[name] = value, size
        value, size = self._taken[name]
        # Each use may end up as a copy: a ~ a ~ a.
        self._work.spend(size * times)
        return value


def check_expression(expression: str) -> frozenset[str]:
    """Return the names of the ingredients that a filter expression uses.

    Parameters
    ----------
    expression:
        As the owner wrote it, at most 4096 characters.

    Raises
    ------
    ExpressionError
        The expression can't be used.
    """
    return frozenset(read_expression(expression.strip()).names)


def evaluate_filter(expression: str, ingredients: Mapping[str, IngredientValue]) -> FilterResult:
    """Return whether an event with these ingredients passes a filter.

    Missing values, zero, empty text, lists and objects don't pass, and neither does the text ``false``: that
    is how web hooks send it. ``skip('why')`` does not pass, with a reason, wherever it is come to:
    ``Value1 == 'open' or skip('The door is shut')``.

    Parameters
    ----------
    expression:
        As the owner wrote it.
    ingredients:
        By name.

    Raises
    ------
    ExpressionError
        The expression can't be used, or not with these values.
    """
    evaluator = Evaluator(ingredients)
    try:
        value = evaluator.evaluate(read_expression(expression.strip()))
    except Skipped as skipped:
        return FilterResult(passed=False, notes=evaluator.notes, reason=str(skipped))
    passed = value.strip().lower() not in ("", "false") if isinstance(value, str) else bool(value)
    return FilterResult(passed, evaluator.notes)
