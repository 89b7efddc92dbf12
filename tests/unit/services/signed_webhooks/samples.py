"""Samples of the signed webhooks service."""

from tests.support.samples import Sample

SAMPLES = {
    "received": Sample({"event_type": "push"}, account={"scheme": "github", "secret": "It's a Secret to Everybody"})
}
