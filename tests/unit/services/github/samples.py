"""Samples of the GitHub service."""

from tests.support.samples import Sample

ACCOUNT = {"token": "github_pat_a1b2c3"}

SAMPLES = {
    "create_issue": Sample(
        {"repository": "octocat/hello-world", "title": "Door", "body": "It is open.", "labels": ["bug"]}, ACCOUNT
    ),
    "create_comment": Sample({"repository": "octocat/hello-world", "issue": "42", "body": "Still open."}, ACCOUNT),
    "list_issues": Sample({"repository": "octocat/hello-world", "state": "all", "limit": 5}, ACCOUNT),
}
