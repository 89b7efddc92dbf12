"""Web: values in JSON documents and the text of web pages, and when they change."""
