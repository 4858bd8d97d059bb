# rewind: build, install, test, measure, show.

GO ?= go
PREFIX ?= $(HOME)/.local

.PHONY: all build install dist test bench demo fuzz soak e2e

all: build

build: ## the binary, in bin/; without C it needs no other file, and starts 1.5 ms of CPU time sooner
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/rewind ./cli/rewind

install: build ## the binary, manual pages and completions, in $(PREFIX); asks for tier and hooks, INSTALLFLAGS answer
	./install.sh --binary bin/rewind --prefix "$(PREFIX)" $(INSTALLFLAGS)

dist: ## a release in dist/: archives, .deb, .rpm, get.sh, checksums; DISTFLAGS="--short --twice" as CI has it
	./docs/dist.sh $(DISTFLAGS)

test: ## everything that must hold: build, vet, staticcheck, tests with -race, other systems
	$(GO) build ./...
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...
	$(GO) tool staticcheck ./...
	GORACE="atexit_sleep_ms=10 $(GORACE)" $(GO) test -race -parallel 4 -timeout 25m ./... # scenes wait for the disk more than for a core; and not a second at each exit of the commands that tests run

bench: ## the tables of the README and of docs/bench; BENCHFLAGS=-short for a short form that only prints
	$(GO) run ./bench/compare $(if $(BENCHFLAGS),,-docs docs/bench -readme README.md) $(BENCHFLAGS)

demo: build ## the main job on a sample, in a temporary directory
	./docs/demo.sh bin/rewind

fuzz: ## every decoder, FUZZTIME each (default 20s)
	./docs/fuzz.sh $(or $(FUZZTIME),20s)

soak: ## the random state machine and killed processes for a long time: SOAK=1h; and every case of the tests that play a share of theirs
	REWIND_SOAK=$(or $(SOAK),1h) $(GO) test -timeout 0 -run 'Soak|NoMixture|FailingOperations|PowerCut|DamagedGeneration|MergeAgainstGit' -v ./...

e2e: ## the real clients against a scripted model, with no network but the loopback: E2E=<unpacked npm packages>
	$(GO) test -c -o bin/e2e.test ./cli
	cd cli && REWIND_E2E="$(abspath $(E2E))" unshare -rn sh -c 'ip link set lo up && exec ../bin/e2e.test -test.run TestE2E -test.v -test.timeout 30m'
