"""What to set at a sender of signed webhooks, in words, by the scheme of its signature."""

from whenthen.web.console.language import gettext as _


def steps(scheme: str) -> list[str]:
    """Return what to do at the sender, in order. The address and the secret are those of the connection."""
    match scheme:
        case "github":
            return [
                _("Open the repository or organization at GitHub: Settings, Webhooks, Add webhook."),
                _("Payload URL: the address above. Content type: application/json."),
                _("Secret: the signing secret that you gave here."),
                _("Choose the events, and save."),
            ]
        case "stripe":
            return [
                _("Open Workbench at Stripe, Webhooks, and add a destination with the address above."),
                _("Copy its signing secret, which begins with whsec_, into the field below and save."),
            ]
        case "slack":
            return [
                _("Open your app at api.slack.com. The signing secret is under Basic Information."),
                _("Enter the address above as Request URL, for example under Event Subscriptions or Slash Commands."),
            ]
        case "shopify":
            return [
                _("Make a webhook for your app with the address above and the format JSON."),
                _("The signing secret is the app's client secret."),
            ]
        case "standard_webhooks":
            return [
                _("Add an endpoint with the address above at the sender."),
                _("Copy its signing secret, which begins with whsec_, into the field below and save."),
            ]
        case "meta":
            return [
                _("Open your app at developers.facebook.com, Webhooks."),
                _("Callback URL: the address above. Verify token: the one that you gave here."),
                _("The signing secret is the app secret, under App settings, Basic."),
            ]
    return [
        _("Enter the address above where the sender asks for a webhook's URL."),
        _("Enter the same secret there as here, and tell whenthen below in which header the signature comes."),
    ]
