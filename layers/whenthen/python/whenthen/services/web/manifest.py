"""What the web service offers."""

from whenthen.services.contract import Ingredient, Service, Trigger
from whenthen.services.web.checks import check_json_condition, check_json_value, check_page
from whenthen.services.web.fields import JsonConditionFields, JsonValueFields, PageFields

_VALUE = Ingredient("Value", "The value now", "21.5")
_URL = Ingredient("Url", "The address that was read", "https://example.org/weather.json")
_CHECK_TIME = Ingredient("CheckTime", "When it was noticed, in UTC", "August 23, 2010 at 11:01PM")

SERVICE = Service(
    slug="web",
    name="Web",
    triggers=(
        Trigger(
            slug="json_value_changes",
            name="A value in a JSON document changes",
            description="Fires every time the value that an expression finds differs from the last one seen.",
            fields=JsonValueFields,
            ingredients=(_VALUE, Ingredient("PreviousValue", "The value before", "20.75"), _URL, _CHECK_TIME),
            check=check_json_value,
        ),
        Trigger(
            slug="json_value_meets",
            name="A value in a JSON document meets a condition",
            description="Fires when a condition that did not hold begins to hold.",
            fields=JsonConditionFields,
            ingredients=(_VALUE, _URL, _CHECK_TIME),
            check=check_json_condition,
        ),
        Trigger(
            slug="page_text_changes",
            name="The text of a web page changes",
            description="Fires every time the visible text of a page, or of a part of it, differs from the last seen.",
            fields=PageFields,
            ingredients=(
                Ingredient("NewText", "The text now", "Tickets are on sale"),
                Ingredient("OldText", "The text before, its beginning when it is long", "Tickets soon"),
                Ingredient("AddedText", "The lines that were not there before", "Tickets are on sale"),
                _URL,
                _CHECK_TIME,
            ),
            check=check_page,
        ),
    ),
)
