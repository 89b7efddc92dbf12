"""Samples of the web service."""

from tests.support.samples import Sample
from tests.support.sink import Reply

SAMPLES = {
    "json_value_changes": Sample(
        {"url": "{url}/a.json", "expression": "main.temp"},
        before={"/a.json": Reply(body=b'{"main": {"temp": 20}}')},
        after={"/a.json": Reply(body=b'{"main": {"temp": 21.5}}')},
        takes_any_json=True,
    ),
    "json_value_meets": Sample(
        {"url": "{url}/a.json", "expression": "main.temp", "operator": "greater_than", "value": "21"},
        before={"/a.json": Reply(body=b'{"main": {"temp": 20}}')},
        after={"/a.json": Reply(body=b'{"main": {"temp": 21.5}}')},
    ),
    "page_text_changes": Sample(
        {"url": "{url}/page", "selector": "#news"},
        before={"/page": Reply(body=b"<p id=news>Tickets soon</p>", headers=(("Content-Type", "text/html"),))},
        after={"/page": Reply(body=b"<p id=news>Tickets on sale</p>", headers=(("Content-Type", "text/html"),))},
    ),
}
