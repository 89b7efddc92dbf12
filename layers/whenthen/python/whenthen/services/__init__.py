"""Services: one folder each, behind the contract of `services.contract`.

The trigger function imports single modules of a service, so nothing is imported here.
"""
