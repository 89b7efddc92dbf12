"""The console: pages to make applets, see what they do, and look after connections, keys and people.

A page reads its request (`visit`), calls the engine as the management API does, and renders a template (`rendering`).
"""
