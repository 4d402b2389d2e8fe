# The commands of everyday work. `make help` lists them.

.DEFAULT_GOAL := help
.PHONY: help build run test bench fmt

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build the release binary at target/release/noetl
	cargo build --release --locked --package noetl
	@scripts/place-binary

run: build ## Build, check the examples, and run the first one
	@target/release/noetl check examples
	@target/release/noetl run examples/hello.yaml
	@echo
	@echo "Next: copy an example, change it, and run it:"
	@echo "  cp examples/hello.yaml my.yaml && target/release/noetl run my.yaml"

test: ## Everything CI checks: formatting, lints, tests, simulation, generated files, examples
	@scripts/setup-tests
	cargo xtask ci

bench: ## Run the benchmarks
	cargo bench --locked --workspace --bench '*'

fmt: ## Format the code
	cargo fmt --all
