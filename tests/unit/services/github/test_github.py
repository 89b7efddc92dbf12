"""Issues and comments, as GitHub takes them."""

import time
from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from tests.support.acting import Acting, meaning
from tests.support.sink import Reply
from tests.support.vendor import rendered
from tests.unit.services.github.stand_in import TOKEN, GitHub, document, refusal
from whenthen.engine.attempts import describe_request
from whenthen.engine.retry import Unanswered
from whenthen.engine.wire import Sent
from whenthen.errors import FieldError
from whenthen.services.contract import Fields
from whenthen.services.github.connection import CONNECTION, GitHubConnectionFields
from whenthen.services.github.fields import CreateCommentFields, CreateIssueFields, ListIssuesFields
from whenthen.services.work import Meaning, Reading

ISSUE = {"repository": "octocat/hello-world", "title": "Door"}
ISSUES = "/repos/octocat/hello-world/issues"


@pytest.fixture(scope="module")
def running() -> Iterator[GitHub]:
    with GitHub() as github:
        yield github


@pytest.fixture
def github(running: GitHub) -> GitHub:
    running.forget()
    running.made.clear()
    return running


@pytest.fixture
def acting(github: GitHub) -> Acting:
    return Acting("github", {"token": TOKEN, "api_url": github.url})


def failure(sent: Sent) -> str:
    assert meaning(sent) is Meaning.FAILED
    return sent.reason


def test_an_issue_is_opened(acting: Acting, github: GitHub) -> None:
    labels = ["bug", " ", "house"]
    sent = acting.act("create_issue", {**ISSUE, "body": "Open.", "labels": labels, "assignees": ["@ada", ""]})
    assert meaning(sent) is Meaning.SUCCEEDED
    assert github.made == [{"title": "Door", "body": "Open.", "labels": ["bug", "house"], "assignees": ["ada"]}]
    assert sent.request is not None
    assert TOKEN not in str(describe_request(sent.request))


def test_a_comment_is_written(acting: Acting, github: GitHub) -> None:
    """D09: the digits of a long number are not rounded."""
    fields = {"repository": "octocat/hello-world", "issue": "#9007199254740993", "body": "Still open."}
    assert meaning(acting.act("create_comment", fields)) is Meaning.SUCCEEDED
    assert github.requests[-1].path == f"{ISSUES}/9007199254740993/comments"
    assert github.made == [{"body": "Still open."}]


def test_what_is_too_long_is_cut_and_never_refused(acting: Acting, github: GitHub) -> None:
    long = "é" * 200_000
    fields = {**ISSUE, "title": long, "body": long, "details": long}
    assert meaning(acting.act("create_issue", fields)) is Meaning.SUCCEEDED
    made = github.made[0]
    assert len(made["title"]) == 256
    assert made["title"].endswith("…")
    assert len(made["body"]) == 65_536
    assert made["body"].endswith("…\n```")


@pytest.mark.parametrize(
    ("details", "block"),
    [
        ('{"a": [1]}', '```\n{"a": [1]}\n```'),
        ("```\n@ada", "````\n```\n@ada\n````"),
        ("`````", "``````\n`````\n``````"),
    ],
)
def test_details_stay_in_their_block(acting: Acting, github: GitHub, details: str, block: str) -> None:
    acting.act("create_issue", {**ISSUE, "body": "Look:", "details": details})
    assert github.made[0]["body"] == f"Look:\n\n{block}"


@pytest.mark.parametrize(
    ("ingredient", "written"),
    [
        ("light.bedroom_lamp", r"light.bedroom\_lamp"),
        ("@ada and @octo/team", "@\u200bada and @\u200bocto/team"),
        ("ada@example.org", "ada@example.org"),
        ("<!-- all that follows", r"\<!-- all that follows"),
        ("```", r"\`\`\`"),
        ("x](https://evil.example) [y", r"x\](https://evil.example%29 \[y"),
        ("https://example.org/a_b?c=1", "https://example.org/a_b?c=1"),
        ("# Head\n- [ ] item\n1. one", "\\# Head\n\\- \\[ \\] item\n1\\. one"),
    ],
)
def test_an_ingredient_is_text_and_calls_on_nobody(ingredient: str, written: str) -> None:
    """E08. Who is to be told is for the owner to write: their own @name stays."""
    for model, others in ((CreateIssueFields, {"title": "x"}), (CreateCommentFields, {"issue": "1"})):
        values = {"repository": "o/r", **others, "body": "@owner: {{Value1}}"}
        assert rendered(model, values, {"Value1": ingredient}).model_dump()["body"] == f"@owner: {written}"


def test_a_title_is_one_line() -> None:
    assert rendered(CreateIssueFields, {**ISSUE, "title": "T {{Value1}}"}, {"Value1": "a\r\nb"}).title == "T a b"


@pytest.mark.parametrize("name", ["", "octocat", "octocat/", "a/b/c", "octocat/..", "o/a?b", "o/a#", "../x", "é/a"])
@pytest.mark.parametrize(
    ("fields", "others"),
    [(CreateIssueFields, {"title": "x"}), (CreateCommentFields, {"issue": "1", "body": "x"}), (ListIssuesFields, {})],
)
def test_a_repository_has_an_owner_and_a_name(fields: type[Fields], others: dict[str, str], name: str) -> None:
    with pytest.raises(ValidationError) as caught:
        fields.model_validate({**others, "repository": name})
    assert [error["loc"] for error in caught.value.errors()] == [("repository",)]


def test_what_an_ingredient_made_of_a_name_is_checked(acting: Acting) -> None:
    with pytest.raises(FieldError) as caught:
        acting.prepare("create_issue", {**ISSUE, "repository": "octocat/{{../../user"})
    assert caught.value.field == "repository"
    with pytest.raises(FieldError) as caught:
        acting.prepare("create_comment", {"repository": "o/r", "issue": "{{1/../2", "body": "x"})
    assert caught.value.field == "issue"


def test_refusals_are_told_in_words(acting: Acting) -> None:
    assert "may not see the repository" in failure(acting.act("create_issue", {**ISSUE, "repository": "o/r"}))
    assert "turned off" in failure(acting.act("create_issue", {**ISSUE, "repository": "octocat/quiet"}))
    assert "assignees is not valid" in failure(acting.act("create_issue", {**ISSUE, "assignees": ["nobody"]}))


def test_a_token_that_is_not_accepted_is_the_connections_fault(github: GitHub) -> None:
    acting = Acting("github", {"token": "old", "api_url": github.url})
    assert meaning(acting.act("create_issue", ISSUE)) is Meaning.UNAUTHORIZED
    result = acting.test()
    assert isinstance(result, Reading)
    assert result.meaning is Meaning.UNAUTHORIZED


@pytest.mark.parametrize(
    ("reply", "wait"),
    [
        (refusal(403, "You have exceeded a secondary rate limit.", Retry_After="37"), 37),
        (refusal(403, "You have exceeded a secondary rate limit."), 60),
        (refusal(429, "Slow down"), 60),
        (refusal(403, "API rate limit exceeded", x_ratelimit_remaining="0", x_ratelimit_reset="{reset}"), 500),
        (refusal(429, "x", x_ratelimit_remaining="0", x_ratelimit_reset="12"), 1),
        (refusal(502, "Server Error"), 0),
    ],
)
def test_a_limit_passes(acting: Acting, github: GitHub, reply: Reply, wait: float) -> None:
    """The limits of GitHub come as 403, too."""
    reset = str(int(time.time()) + 500)
    headers = tuple((name, value.format(reset=reset)) for name, value in reply.headers)
    github.reply(ISSUES, [Reply(reply.status, headers, reply.body)])
    sent = acting.act("create_issue", ISSUE)
    assert meaning(sent) is Meaning.RETRY
    assert isinstance(sent.result, Reading)
    assert sent.result.retry_after_seconds == pytest.approx(wait, abs=5)


def test_other_403_are_final(acting: Acting, github: GitHub) -> None:
    github.reply(ISSUES, [refusal(403, "Resource not accessible by personal access token", x_ratelimit_remaining="9")])
    reason = failure(acting.act("create_issue", ISSUE))
    assert "Resource not accessible" in reason
    assert "Issues: read and write" in reason


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b'{"id": "x"}', b"null"])
def test_an_answer_that_is_not_githubs_is_no_success(acting: Acting, github: GitHub, body: bytes) -> None:
    """F20: 200 from something on the way is not an issue."""
    github.reply(ISSUES, [Reply(200, body=body)])
    assert "API address" in failure(acting.act("create_issue", ISSUE))
    if body != b"[]":
        sent, rows = acting.ask("list_issues", {"repository": "octocat/hello-world"})
        assert "API address" in failure(sent)
        assert rows == []


def test_an_issue_without_an_answer_is_never_opened_again(acting: Acting, github: GitHub) -> None:
    """F05: GitHub would open a second one."""
    github.reply(ISSUES, [Reply(close=True)])
    assert acting.act("create_issue", ISSUE).result == Unanswered(repeatable=False)


def test_issues_are_listed_without_pull_requests(acting: Acting, github: GitHub) -> None:
    issue = {
        "number": 2, "title": "B", "html_url": "https://github.com/o/r/issues/2", "state": "open",
        "user": {"login": "ada"}, "labels": [{"name": "bug"}, {"name": "house"}], "created_at": "2026-11-30T00:00:00Z",
    }  # fmt: skip
    github.listed = [issue, {"number": 3, "pull_request": {}}, {"number": 1, "user": None, "labels": "x"}, "x"]
    sent, rows = acting.ask("list_issues", {"repository": "octocat/hello-world", "state": "all", "limit": 3})
    assert meaning(sent) is Meaning.SUCCEEDED
    assert github.requests[-1].path == f"{ISSUES}?state=all&sort=created&direction=desc&per_page=3"
    assert [row["Number"] for row in rows] == ["2", "1"]
    assert rows[0] == {
        "Number": "2", "Title": "B", "Url": "https://github.com/o/r/issues/2", "Author": "ada", "State": "open",
        "Labels": "bug, house", "CreatedAt": "2026-11-30T00:00:00Z",
    }  # fmt: skip


def test_a_list_that_is_cut_is_no_list(acting: Acting, github: GitHub) -> None:
    github.reply(ISSUES, [document(200, [{"body": "x" * 2**20}])])
    sent, _ = acting.ask("list_issues", {"repository": "octocat/hello-world"})
    assert "Ask for fewer" in failure(sent)


def test_a_connection_tells_whose_it_is(acting: Acting, github: GitHub) -> None:
    assert acting.test() == "@ada"
    github.reply("/user", [Reply(body=b"<html>")])
    assert isinstance(acting.test(), Reading)
    assert CONNECTION.test(GitHubConnectionFields()) is None


@pytest.mark.parametrize(
    ("api_url", "site"),
    [
        ("https://api.github.com", "https://github.com"),
        ("https://github.example.com/api/v3/", "https://github.example.com"),
        ("https://api.octo.ghe.com", "https://octo.ghe.com"),
    ],
)
def test_people_sign_in_where_the_api_is(api_url: str, site: str) -> None:
    fields = GitHubConnectionFields(api_url=api_url)
    assert CONNECTION.oauth is not None
    assert CONNECTION.oauth.authorize_url(fields) == f"{site}/login/oauth/authorize"
    assert CONNECTION.oauth.token_url(fields) == f"{site}/login/oauth/access_token"
