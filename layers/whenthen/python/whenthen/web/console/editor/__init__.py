"""The applet editor. Its form is the draft: the server keeps nothing until the applet is saved."""
