"""Cron expressions in words."""

import re

_LOCALES = {"en": "en_US", "ja": "ja_JP"}

_JAPANESE = {
    # What stands before every time of day there, and says no more than the time does.
    "次において実施 ": "",
    **dict(
        zip(
            ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
            (f"{day}曜日" for day in "月火水木金土日"),
            strict=True,
        )
    ),
    **{
        name: f"{number}月"
        for number, name in enumerate(
            (
                *("January", "February", "March", "April", "May", "June"),
                *("July", "August", "September", "October", "November", "December"),
            ),
            start=1,
        )
    },
}
"""The package takes the names of days and months from the process's locale, and not from its translations."""

_STEP = re.compile(r"\*/(\d+)")
_CYCLES = (60, 24, 0, 12, 0)
"""After how much each field begins anew; 0 where that differs, as the days of months do."""


def cron_words(expression: str, language: str) -> str:
    """Return an expression that `check_cron` has taken in words; empty where there are no right ones.

    Parameters
    ----------
    language:
        ``en`` or ``ja``; any other is English.
    """
    # The console alone needs it.
    from cron_descriptor import Options, get_description

    if not _can_be_told(expression.split()):
        return ""
    options = Options(locale_code=_LOCALES.get(language, _LOCALES["en"]), use_24hour_time_format=True)
    words = str(get_description(expression, options))
    if language == "ja":
        for name, translated in _JAPANESE.items():
            words = words.replace(name, translated)
    return words


def _can_be_told(fields: list[str]) -> bool:
    """Say if the package's words mean what the expression does."""
    for field, cycle in zip(fields, _CYCLES, strict=True):
        step = _STEP.fullmatch(field)
        # `*/45` is told as "every 45 minutes" and runs at :00 and :45; a star within a list is told as one of many.
        if "*" in field and field != "*" and not step:
            return False
        if step and (not cycle or cycle % int(step[1])):
            return False
    _, _, day, _, weekday = fields
    is_special = not {"#", "L"}.isdisjoint((day + weekday).upper())
    if "," in day + weekday and is_special:
        return False
    # Both restricted: either of them is enough, unless one begins with a star. It is always told as the former.
    return "*" in (day, weekday) or not (is_special or "*" in (day[0], weekday[0]))
