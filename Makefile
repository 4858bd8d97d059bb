# rewind: build, install, test, measure, show.

GO ?= go
PREFIX ?= $(HOME)/.local

# Everything is compiled as the released program is, and so once: without C, which only -race needs.
export CGO_ENABLED = 0
export GOFLAGS := $(GOFLAGS) -tags=nethttpomithttp2 -trimpath

.PHONY: all build install dist test vet test-plain test-raced test-servers bench demo fuzz soak soak-share e2e

all: build

build: ## the binary, in bin/; without C it needs no other file, and starts 1.5 ms of CPU time sooner; without debug tables it is 8 MB smaller, without HTTP/2, which the page does not use, 0.4
	$(GO) build -ldflags="-s -w" -o bin/rewind ./cli/rewind

install: build ## the binary, manual pages and completions, in $(PREFIX); asks for tier and hooks, INSTALLFLAGS answer
	./install.sh --binary bin/rewind --prefix "$(PREFIX)" $(INSTALLFLAGS)

dist: ## a release in dist/: archives, .deb, .rpm, get.sh, checksums; DISTFLAGS="--short --twice" as CI has it
	./docs/dist.sh $(DISTFLAGS)

# These start no goroutine, or test the program as it is built, in processes of its own: -race would find nothing in
# them and costs four times the processor time. TestSequentialPackages holds the first ones to it.
SEQUENTIAL = bench/report engine/bisect engine/graph engine/patch engine/pathspec engine/problem engine/weave hookio hookio/jsonscan hookio/register hookio/shell manifest/table
PROGRAM = cli/rewind bench/picture
# These try each byte, each fault, many random lives, or play the program, or browsers, in processes of their own: all of it without -race,
# and a share (-short) with it. The tests of all other packages run with -race alone. What takes longest is named, and begins,
# first: no core waits for it at the end.
EXHAUSTIVE = cli cli/page engine cas cli/lives engine/restore engine/maintain engine/remote engine/gitrestore engine/gitrepo engine/treeio engine/scan manifest engine/ignore engine/transcript engine/timeline engine/conversation engine/session engine/linediff cas/pack
# Of these, those whose own code starts no goroutine: the others run it with -race, and soak all of them.
ALONE = cli/lives engine/restore engine/gitrestore engine/gitrepo engine/ignore engine/transcript engine/timeline engine/conversation engine/session engine/linediff cas/pack
PLAIN = $(addprefix ./,$(PROGRAM) $(EXHAUSTIVE) $(SEQUENTIAL))
RACED = $(filter-out $(addprefix $(shell $(GO) list -m)/,$(SEQUENTIAL) $(PROGRAM) $(EXHAUSTIVE)),$(shell $(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./...))
# Scenes wait for the disk more than for a core. vet is a step of its own. Raced commands end at once, not after a second.
# The compiler and the tests collect garbage a quarter as often, which saves a seventh to a third of their processor time,
# up to a bound that is for the few which hold much.
GOTEST = GOGC=400 GOMEMLIMIT=2GiB $(GO) test -vet=off -parallel 4 -timeout 25m
RACE = CGO_ENABLED=1 GORACE="atexit_sleep_ms=10 $(GORACE)" $(GOTEST) -race

test: ## every test, and with -race those of what starts goroutines
	+$(MAKE) -j2 test-plain test-raced # each waits at times

vet: ## build, vet and staticcheck, and vet for macOS and Windows
	$(GO) build ./...
	$(GO) build -o bin/vet ./.ci/vet
	bin/vet ./...
	GOOS=darwin bin/vet ./...
	GOOS=windows bin/vet ./...
	$(GO) tool staticcheck ./...

test-plain: # in memory, where there is enough of it: fsync on a disk takes ten times as long; test-raced is on the disk
	dir=$${TMPDIR:-/tmp}; free=$$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $$4 }'); \
	if [ -z "$$TMPDIR" ] && [ "$${free:-0}" -ge 4194304 ]; then export TMPDIR=/dev/shm; fi; \
	GOTMPDIR=$$dir $(GOTEST) -p 2 $(PLAIN)
	cd cli/web/bundle && $(GO) vet . && $(GOTEST) .

test-raced:
	$(RACE) $(RACED)
	$(RACE) -short $(addprefix ./,$(filter-out $(ALONE),$(EXHAUSTIVE)))

test-servers: ## pushes and clones by S3 servers that others have made, through a proxy that fails; versitygw takes three minutes of two cores to build
	cd bench/server && $(GO) vet . && $(GOTEST) .

bench: ## the tables of the README and of docs/bench; BENCHFLAGS=-short for a short form that only prints
	$(GO) run ./bench/compare $(if $(BENCHFLAGS),,-docs docs/bench -readme README.md) $(BENCHFLAGS)

demo: build ## the main job on a sample, in a temporary directory
	./docs/demo.sh bin/rewind

fuzz: ## every decoder, FUZZTIME each (default 20s)
	./docs/fuzz.sh $(or $(FUZZTIME),20s)

soak: ## random lives and killed processes for a long time: SOAK=1h; every case of the tests that play a share of theirs
	REWIND_SOAK=$(or $(SOAK),1h) $(GO) test -timeout 0 -run 'Soak|NoMixture|FailingOperations|PowerCut|DamagedGeneration|MergeAgainstGit' -v ./...
	$(RACE) -timeout 0 $(addprefix ./,$(EXHAUSTIVE)) # of which test-raced plays a share
	cd bench/server && REWIND_SOAK=100 $(GOTEST) -timeout 0 .

soak-share: ## what of soak has no end of its own, for SOAK=20s each
	REWIND_SOAK=$(or $(SOAK),20s) $(GO) test -vet=off -timeout 10m -run 'TestSoakMachine|TestSoakSymlinkSwaps' ./engine ./engine/treeio
	REWIND_SOAK=$(or $(SOAK),20s) $(GO) test -vet=off -timeout 10m -run 'TestSoakLives|TestSoakGitLives' ./cli/lives -for $(or $(SOAK),20s)

e2e: ## the real clients against a scripted model, with no network but the loopback: E2E=<unpacked npm packages>
	$(GO) test -c -o bin/e2e.test ./cli
	cd cli && REWIND_E2E="$(abspath $(E2E))" unshare -rn sh -c 'ip link set lo up && exec ../bin/e2e.test -test.run TestE2E -test.v -test.timeout 30m'
