"""What the Todoist service offers."""

from whenthen.services.contract import Action, Service
from whenthen.services.todoist.actions import create_task
from whenthen.services.todoist.connection import CONNECTION
from whenthen.services.todoist.fields import CreateTaskFields

SERVICE = Service(
    slug="todoist",
    name="Todoist",
    actions=(
        Action(
            slug="create_task",
            name="Create a task",
            description="Creates a task in a project or the inbox.",
            fields=CreateTaskFields,
            prepare=create_task,
            connects="todoist",
        ),
    ),
    connection=CONNECTION,
)
