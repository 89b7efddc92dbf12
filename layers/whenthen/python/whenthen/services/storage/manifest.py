"""What the storage service offers."""

from whenthen.services.contract import Action, Service
from whenthen.services.storage.actions import append_csv_row, append_line, put_from_url, put_text
from whenthen.services.storage.connection import CONNECTION
from whenthen.services.storage.fields import AppendCsvRowFields, AppendLineFields, PutFromUrlFields, PutTextFields

SERVICE = Service(
    slug="storage",
    name="Storage",
    actions=(
        Action(
            slug="put_text",
            name="Store a text",
            description="Stores a text as a file, in place of one that has the same name.",
            fields=PutTextFields,
            prepare=put_text,
            connects="storage",
        ),
        Action(
            slug="put_from_url",
            name="Store a file from a URL",
            description="Fetches a file of at most 5 MiB and stores it, in place of one that has the same name.",
            fields=PutFromUrlFields,
            prepare=put_from_url,
            connects="storage",
        ),
        Action(
            slug="append_line",
            name="Append a line",
            description="Appends a line to a text file of at most 1 MiB, or begins one.",
            fields=AppendLineFields,
            prepare=append_line,
            connects="storage",
        ),
        Action(
            slug="append_csv_row",
            name="Append a row to a CSV file",
            description="Appends a row to a CSV file of at most 1 MiB, or begins one.",
            fields=AppendCsvRowFields,
            prepare=append_csv_row,
            connects="storage",
        ),
    ),
    connection=CONNECTION,
)
