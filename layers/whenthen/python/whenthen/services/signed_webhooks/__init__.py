"""Webhooks that their senders sign: GitHub, Stripe, Slack, Shopify, Meta, Standard Webhooks and any HMAC."""
