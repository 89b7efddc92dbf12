"""What the email digest service offers."""

from whenthen.services.contract import Action, Service
from whenthen.services.email_digest.actions import add_to_digest
from whenthen.services.email_digest.fields import AddToDigestFields

SERVICE = Service(
    slug="email_digest",
    name="Email digest",
    actions=(
        Action(
            slug="add_to_digest",
            name="Add to a daily or weekly email",
            description="Collects entries and sends them in one mail, from your account, when its time has come.",
            fields=AddToDigestFields,
            prepare=add_to_digest,
            connects="email",
        ),
    ),
)
