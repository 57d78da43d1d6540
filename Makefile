# Apus. `make help` lists what there is; `make run` is the shortest way to see it.

SHELL   := /bin/bash
HOST    ?= 127.0.0.1
PORT    ?= 8080
PREFIX  ?= /usr/local
TARGET  := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)
RELEASE := $(TARGET)/release
# What `make release` builds: what is installed, packed and measured.
PACKED  := $(TARGET)/pgo
COMPLETIONS_BASH := bash-completion/completions
COMPLETIONS_ZSH  := zsh/site-functions
COMPLETIONS_FISH := fish/vendor_completions.d
# Another PHP than the one that is found: the module is built with its headers, and run by its binary.
ifneq ($(PHP_CONFIG),)
export APUS_PHP_CONFIG := $(PHP_CONFIG)
export APUS_PHP := $(or $(APUS_PHP),$(filter-out NONE,$(shell $(PHP_CONFIG) --php-binary)))
endif
# A cargo that rustup installed for this user is found even where no profile was read, and before an old one of the system.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help deps cargo build release run gateway test test-long bench bench-db bench-coro bench-ws bench-memory bench-pack bench-travel bench-tasks bench-start bench-superglobals bench-compat bench-tls bench-front bench-api bench-serve soak docs api fmt install uninstall clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  HOST=$(HOST) PORT=$(PORT) for run and gateway, PREFIX=$(PREFIX) for install, PHP_CONFIG for build, RUSTUP=yes: Rust may be installed"

run: build ## install what is missing, build, serve the demo application
	@HOST=$(HOST) PORT=$(PORT) exec $(RELEASE)/apus run examples/demo/server.php

gateway: build ## serve the push gateway of examples/gateway (HOST, PORT, GATEWAY_...)
	@HOST=$(HOST) PORT=$(PORT) exec $(RELEASE)/apus run examples/gateway/server.php

build: deps ## build the module (apus.so) and the command (apus); PHP_CONFIG=php-config8.4 for another PHP
	cargo build --release -p apus-php -p apus-cli
	@ln -sf libapus.so $(RELEASE)/apus.so
	@echo "built $(RELEASE)/apus.so and $(RELEASE)/apus"

release: deps ## build the module and the command as they are installed: compiled twice, the second time by what ran how often (target/pgo)
	@tools/release

test: cargo ## format, lints, rules of the tree, unit tests, phpt, end to end; counts at the end
	@tests/run

test-long: deps ## what takes longer: phpt under valgrind and AddressSanitizer, kills by the thousand, an hour of traffic over WordPress (TRAFFIC_SECONDS=3600) and one of everything at once (EVERYTHING_SECONDS=3600), PHP's own tests (DIFFERENTIAL=folder)
	@tools/install-packages test
	@tests/run --long

bench: release ## measure beside the peers (arguments: BENCH="--help")
	@tools/install-packages bench
	bench/run $(BENCH)

bench-db: release ## measure applications with a database beside the peers (arguments: BENCH="--help")
	@tools/install-packages bench
	bench/run db $(BENCH)

bench-coro: release ## measure coroutines beside the peers' (arguments: BENCH="--help")
	bench/coro/run $(BENCH)

bench-ws: release ## measure WebSocket servers beside each other (arguments: BENCH="--help")
	bench/run ws $(BENCH)

bench-memory: release ## measure eleven million rows in memory beside the peers (arguments: BENCH="--help")
	@tools/install-packages bench
	bench/run memory $(BENCH)

bench-pack: release ## measure values as bytes beside igbinary (arguments: BENCH="--help")
	@tools/install-packages bench
	bench/run pack $(BENCH)

bench-tasks: release ## measure task workers beside the peers' (arguments: BENCH="--help")
	@tools/install-packages bench
	bench/run tasks $(BENCH)

bench-start: release ## measure start and reload beside the peers (arguments: BENCH="--help")
	@tools/install-packages bench
	bench/run start $(BENCH)

bench-superglobals: release ## measure what the setting superglobals costs (arguments: BENCH="--help")
	bench/run superglobals $(BENCH)

bench-compat: release ## measure code written for Swoole under Apus and Swoole (SWOOLE_SO=...; arguments: BENCH="--help")
	@tools/install-packages bench
	bench/run compat $(BENCH)

bench-tls: release ## measure TLS and HTTP/2 over it beside the peers (arguments: BENCH="--help")
	@tools/install-packages bench
	bench/run tls $(BENCH)

bench-front: release ## measure files, compression, the access log and metrics beside nginx (arguments: BENCH="--help")
	@tools/install-packages bench
	bench/run front $(BENCH)

bench-api: release ## measure an API beside the same on php-fpm, Go and Swoole (arguments: BENCH="--help")
	@tools/install-packages bench
	bench/run api $(BENCH)

bench-serve: release ## measure PHP applications unchanged beside nginx with php-fpm (arguments: BENCH="--help")
	@tools/install-packages bench
	bench/run serve $(BENCH)

bench-travel: release ## measure the travel service beside the same in Go (arguments: BENCH="--help")
	bench/run travel $(BENCH)

soak: release ## mixed queries while databases are killed (SOAK_SECONDS=600, SOAK_SEED), then hours of everything at once, also with AddressSanitizer (arguments: BENCH="--help")
	@tools/install-packages test bench
	APUS_SO=$(PACKED)/libapus.so tests/soak/soak.py $(SOAK)
	APUS_ASAN_SO=$$(tools/asan-module) bench/run soak $(BENCH)

docs: cargo ## write docs/options.md anew, and the measured table of README.md
	APUS_UPDATE_DOCS=1 cargo test -q -p apus-options the_reference_page_is_the_table
	@tools/bench-table

api: build ## write the API reference as HTML (target/api), and the stubs as a Composer package (target/stubs)
	@$(RELEASE)/apus stubs --html $(TARGET)/api --package $(TARGET)/stubs

fmt: cargo ## format the Rust sources
	cargo fmt --all

install: release ## install apus and apus.so under PREFIX
	install -D -m 755 $(PACKED)/apus $(DESTDIR)$(PREFIX)/bin/apus
	install -D -m 644 $(PACKED)/libapus.so $(DESTDIR)$(PREFIX)/lib/apus/apus.so
	@install -d $(addprefix $(DESTDIR)$(PREFIX)/share/,$(COMPLETIONS_BASH) $(COMPLETIONS_ZSH) $(COMPLETIONS_FISH))
	@$(PACKED)/apus completions bash > $(DESTDIR)$(PREFIX)/share/$(COMPLETIONS_BASH)/apus
	@$(PACKED)/apus completions zsh > $(DESTDIR)$(PREFIX)/share/$(COMPLETIONS_ZSH)/_apus
	@$(PACKED)/apus completions fish > $(DESTDIR)$(PREFIX)/share/$(COMPLETIONS_FISH)/apus.fish
	@echo "apus finds its module by itself; for plain php: php -d extension=$(PREFIX)/lib/apus/apus.so"

uninstall: ## remove what install put under PREFIX
	rm -f $(DESTDIR)$(PREFIX)/bin/apus $(DESTDIR)$(PREFIX)/lib/apus/apus.so
	rm -f $(DESTDIR)$(PREFIX)/share/$(COMPLETIONS_BASH)/apus $(DESTDIR)$(PREFIX)/share/$(COMPLETIONS_ZSH)/_apus
	rm -f $(DESTDIR)$(PREFIX)/share/$(COMPLETIONS_FISH)/apus.fish
	-rmdir $(DESTDIR)$(PREFIX)/lib/apus

clean: ## remove what was built
	cargo clean

deps: cargo
	@PHP_CONFIG=$(PHP_CONFIG) tools/install-packages build

cargo:
	@RUSTUP=$(RUSTUP) tools/toolchain
