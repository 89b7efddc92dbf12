"""How often a publisher wants to be asked."""

from collections.abc import Callable

import pytest

from tests.support.checking import NOW
from whenthen.clock import isoformat
from whenthen.services.feed.feeds import Feed, Wishes
from whenthen.services.feed.publishing import not_before

HOUR = 3_600_000
DAY = 24 * HOUR


@pytest.mark.parametrize(
    ("head", "wishes"),
    [
        ("<ttl>90</ttl>", Wishes(90)),
        ("<ttl> 5 </ttl>", Wishes(5)),
        ("<ttl>100000</ttl>", Wishes(1440)),
        ("<ttl>-5</ttl>", Wishes()),
        ("<ttl>1e9</ttl>", Wishes()),
        ("<ttl>99999999999999999999</ttl>", Wishes()),
        ('<ttl a="b">90</ttl>', Wishes()),
        # WordPress writes an hour into every feed.
        ("<sy:updatePeriod>hourly</sy:updatePeriod><sy:updateFrequency>1</sy:updateFrequency>", Wishes()),
        ("<skipHours><hour>1</hour><hour>24</hour><hour>25</hour><hour>x</hour></skipHours>", Wishes(0, (0, 1))),
        ("<skipDays><day>Sunday</day><day>Noday</day></skipDays>", Wishes(0, (), (6,))),
        (f"<skipHours>{''.join(f'<hour>{n}</hour>' for n in range(24))}</skipHours>", Wishes()),
    ],
)
def test_what_a_feed_wishes(read: Callable[..., Feed], head: str, wishes: Wishes) -> None:
    namespace = 'xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"'
    feed = read(f'<rss version="2.0" {namespace}><channel><title>t</title>{head}</channel></rss>'.encode())
    assert feed.wishes == wishes
    assert Wishes.read(wishes.as_dict()) == wishes


@pytest.mark.parametrize(
    ("wishes", "interval_minutes", "at"),
    [
        (Wishes(), 5, None),
        (Wishes(90), 5, NOW + 90 * 60_000),
        (Wishes(5), 60, NOW + HOUR),
        (Wishes(1440), 5, NOW + DAY),
        # 2026-09-21 is a Monday, and it is 14:13:20.
        (Wishes(0, (14, 15)), 5, "2026-09-21T16:00:00.000Z"),
        (Wishes(0, (15,)), 5, "2026-09-21T14:18:20.000Z"),
        (Wishes(60, (15,)), 5, "2026-09-21T16:00:00.000Z"),
        (Wishes(0, (), (0,)), 5, "2026-09-22T00:00:00.000Z"),
        (Wishes(0, (0, 1), (0,)), 5, "2026-09-22T02:00:00.000Z"),
        (Wishes(0, (), (0, 1)), 5, "2026-09-22T14:13:20.000Z"),
    ],
)
def test_b07_the_next_check_waits_for_the_publisher(
    wishes: Wishes, interval_minutes: int, at: int | str | None
) -> None:
    found = not_before(wishes, NOW, interval_minutes)
    assert (isoformat(found) if found and isinstance(at, str) else found) == at
