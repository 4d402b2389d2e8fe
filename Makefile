# The commands of everyday work. `make help` lists them.

.DEFAULT_GOAL := help
.PHONY: help build run test bench fmt

# What `make run` passes on, such as DEV="--listen 127.0.0.1:0".
DEV ?=

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build the release binary at target/release/noetl, with the web UI when Node is there
	@scripts/build-ui
	cargo build --release --locked --package noetl
	@scripts/place-binary

run: build ## Build, and start a server with a worker on http://127.0.0.1:8082, state in ./noetl-data
	@target/release/noetl dev $(DEV)

test: ## Everything CI checks: formatting, lints, tests, simulation, generated files, examples, the web UI
	@scripts/setup-tests
	cargo xtask ci

bench: ## Run the benchmarks
	cargo bench --locked --workspace --bench '*'

fmt: ## Format the code
	cargo fmt --all
