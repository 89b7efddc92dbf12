"""GitHub: issues and comments (REST API, version 2022-11-28), of github.com and of Enterprise servers."""
