"""Buttons: links that fire an applet when a person presses the one button on their page."""
