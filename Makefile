# `make run` and `make test` do all their own set-up.
.PHONY: run test lint bench setup services sam screenshots

setup:
	@scripts/setup >/dev/null

# On the embedded engine, or on a real server: make run ALOPEX=server, or with ALOPEX_URL set.
run: setup
ifeq ($(ALOPEX),server)
	@exec scripts/run-with-server
else
	@exec .venv/bin/whenthen run
endif

# What the tests run against: nginx, Chromium, the Alopex server and its own command (both built once with cargo, minutes).
services:
	@scripts/install-system-packages nginx-light chromium chromium-driver
	@scripts/install-alopex-server >/dev/null
	@scripts/install-alopex-cli >/dev/null

test: setup services
	.venv/bin/pytest $(PYTEST_ARGS)

lint: setup
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

# The template and the functions' build.
sam: setup
	scripts/sam validate --lint
	scripts/sam-build

bench: setup services
	@scripts/sam-build >/dev/null 2>&1
	.venv/bin/python -m bench

# The pictures in README.
screenshots: setup services
	@scripts/install-system-packages fonts-vlgothic
	.venv/bin/python -m tests.support.screenshots docs/screenshots
