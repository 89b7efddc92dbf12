"""From the bytes of a JSON document to what an expression finds in it. Runs in the process that reads documents.

JMESPath stops at nothing: ``[@,@][]`` thirty times over is a list of a billion elements, in 240 characters.
"""

import json
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError, JMESPathTypeError

from whenthen.services.isolation.errors import NotRead
from whenthen.services.web.conditions import Operator, meets
from whenthen.services.web.encodings import decode, header_charset
from whenthen.services.web.texts import cut, digest
from whenthen.services.web.values import canonical_text, load_json, value_text

_DEEP = "The document, or what the expression finds, is nested too deeply."


def read(
    body: bytes, content_type: str, expression: str, condition: tuple[Operator, str] | None = None
) -> dict[str, Any] | None:
    """Return what the expression finds in a document; None when it finds nothing. See `isolation.apart.read_apart`.

    Parameters
    ----------
    body:
        The document.
    content_type:
        Its Content-Type header.
    expression:
        JMESPath.
    condition:
        The operator and the text of a condition, if there is one.

    Returns
    -------
    ``text``, the value's beginning if it is long, ``hash``, the same for all its spellings, and ``meets``, see
    `conditions.meets`. Or ``fault``: why the expression does not fit the document.

    Raises
    ------
    NotRead
        It is not JSON, not in an encoding that it says, or nested too deeply.
    """
    document = _load(body, content_type)
    try:
        value = jmespath.search(expression, document)
        if value is None:
            return None
        return {
            "text": cut(value_text(value)),
            "hash": digest(canonical_text(value)),
            "meets": meets(value, *condition) if condition else None,
        }
    except RecursionError as error:
        raise NotRead(_DEEP) from error
    except JMESPathTypeError as error:
        expected = " or ".join(error.expected_types)
        fault = f"The expression does not fit the document: {error.function_name}() takes {expected}"
        return {"fault": f"{fault}, not {error.actual_type}."}
    except JMESPathError as error:
        return {"fault": f"The expression can't be evaluated: {str(error).partition('\n')[0][:200]}"}
    except (ArithmeticError, AttributeError, LookupError, NotImplementedError, TypeError, ValueError):
        # What the library does not catch itself, such as a number within a text.
        return {"fault": "The expression does not fit the document."}


def _load(body: bytes, content_type: str) -> Any:
    # UTF-8 by RFC 8259, section 8.1; older documents are in UTF-16 or 32, or in what the header names.
    text = decode(body, (json.detect_encoding(body), header_charset(content_type)))
    if text is None:
        raise NotRead("The document is not text in UTF-8.")
    if not text.strip():
        raise NotRead("The document is empty.")
    if text.lstrip().startswith("<"):
        raise NotRead("The source gave a web page or XML instead of JSON.")
    try:
        return load_json(text)
    except RecursionError as error:
        raise NotRead(_DEEP) from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise NotRead(f"The document is not JSON: {error.msg} at {where}.") from error
    except ValueError as error:
        raise NotRead("The document holds a number that can't be read, such as NaN or one that is too long.") from error
