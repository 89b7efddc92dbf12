"""What the GitHub service offers."""

from whenthen.services.contract import Action, Query, Service
from whenthen.services.github.actions import create_comment, create_issue
from whenthen.services.github.connection import CONNECTION
from whenthen.services.github.fields import CreateCommentFields, CreateIssueFields, ListIssuesFields
from whenthen.services.github.queries import ISSUE, list_issues

SERVICE = Service(
    slug="github",
    name="GitHub",
    actions=(
        Action(
            slug="create_issue",
            name="Open an issue",
            description="Opens an issue in a repository.",
            fields=CreateIssueFields,
            prepare=create_issue,
            connects="github",
        ),
        Action(
            slug="create_comment",
            name="Comment on an issue",
            description="Comments on an issue or a pull request.",
            fields=CreateCommentFields,
            prepare=create_comment,
            connects="github",
        ),
    ),
    queries=(
        Query(
            slug="list_issues",
            name="List issues",
            description="Lists the newest issues of a repository.",
            fields=ListIssuesFields,
            ingredients=ISSUE,
            prepare=list_issues,
            connects="github",
        ),
    ),
    connection=CONNECTION,
)
