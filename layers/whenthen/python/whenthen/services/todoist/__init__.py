"""Todoist: tasks (API v1)."""
