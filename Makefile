# What a person runs by hand. The work is done by scripts/; this is its contents page.

.DEFAULT_GOAL := help
.PHONY: help up down status logs build doctor test bench

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

up: ## Install what is missing, build, start the server, print how to log in
	@scripts/server.sh up

down: ## Stop the server and end its sessions
	@scripts/server.sh down

status: ## Say whether the server runs, and where
	@scripts/server.sh status

logs: ## Follow the server's log
	@scripts/server.sh logs

build: ## Build target/release/helmdeck
	@scripts/server.sh build

doctor: ## Check everything this machine needs, with the fix for what is missing
	@scripts/server.sh doctor

test: ## Run every check that must pass before a change is merged
	@scripts/test.sh

bench: ## Measure actions against the usual tools on the same display
	@scripts/packages.sh install runtime build test
	@cargo xtask bench
