# Needed: make, bash, and Go as go.mod says (Go 1.21 and later fetch that version
# themselves). `make` alone lists the targets.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: build lab wheel test-python test-spark test quick release-snapshot tools gallery demo labs accuracy stacks thirdparty recordings predictions bench bench-dotnet bench-spark test-dotnet thresholds fuzz lint names site help

GO            ?= go
WHEELARCH     ?= amd64
# The version without v: of the tag, else of the first release to come; and the commit.
VERSION       ?= $(patsubst v%,%,$(shell git describe --tags --match 'v*' --dirty 2>/dev/null || echo 0.1.0-dev))
COMMIT        ?= $(shell git describe --always --dirty --match - 2>/dev/null)
LDFLAGS        = -X main.release=$(VERSION) -X main.commit=$(COMMIT)
# Of reading large files, by dev/bench: the compiler inlines what is hot. Wheels and releases are built with it; it makes a build take twice as long.
PROFILE       ?= dev/bench/reading.pgo
FUZZTIME      ?= 60s
FIXTURE       ?= go.gc-rate/
GOLANGCI_LINT ?= v2.15.0
ONLY          ?=
RUNS          ?= 1
KEEP          ?=
LOGS          ?=
SPARKFLAGS    ?=
GRID          ?= out/grid
KEPT          ?=
THRESHOLDSFLAGS ?=
BENCHFLAGS    ?=
PREDICTIONS   ?= dev/grid/predictions.md

build: ## bin/unstall, one static binary
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/unstall ./cmd/unstall

lab: ## bin/unstall-lab, to run labs
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-X main.release=$(VERSION)' -o bin/unstall-lab ./cmd/lab

wheel: ## the Python package, into out/dist
	CGO_ENABLED=0 GOOS=linux GOARCH=$(WHEELARCH) $(GO) build -trimpath -pgo=$(PROFILE) -ldflags '-s -w $(LDFLAGS)' -o python/src/unstall/bin/unstall ./cmd/unstall
	UNSTALL_VERSION='$(VERSION)' GOARCH=$(WHEELARCH) python3 -m pip wheel --disable-pip-version-check -q --no-deps -w out/dist ./python
	@rm -r python/src/unstall/bin; ls out/dist/*.whl

test-python: build ## its tests, with DuckDB and S3
	UNSTALL_BINARY=$(CURDIR)/bin/unstall $$(dev/tools/python.sh) -m unittest python/tests/test_unstall.py

test-spark: build ## its tests with Spark (430 MB)
	UNSTALL_BINARY=$(CURDIR)/bin/unstall JAVA_HOME=$$(dev/tools/jdk.sh 17) $$(dev/tools/python.sh spark) -m unittest python/tests/test_spark.py

test: ## gofmt, go vet and all tests, with the tools they run; ends with what was skipped (20 minutes)
	@GO='$(GO)' dev/tools/test.sh

quick: ## the same of this module, with the tools that are here
	@GO='$(GO)' dev/tools/test.sh quick

# Everything a release has, into out/release, published nowhere (docs/install.md).
release-snapshot:
	cd dev/release && $(GO) run . -version '$(VERSION)'

tools: ## the programs of others that tests run: those installed, others into .tools (1.3 GB)
	@dev/tools/setup.sh out/test

gallery: ## docs/gallery: the reports of the recorded incidents as pages, with pictures of them
	$(GO) run ./dev/gallery -screenshots "$$(dev/tools/chromium.sh)"

site: ## the documents as a site, into out/site/site
	$(GO) run ./dev/site -o out/site
	mkdocs=$$(dev/tools/mkdocs.sh) && cd out/site && NO_MKDOCS_2_WARNING=1 "$$mkdocs" build -s
	$(GO) run ./dev/site -finish out/site/site -worker .tools/mkdocs/iframe-worker.js

demo: build lab ## a sick Go gateway, diagnosed, fixed and compared live (90 s)
	@bin/unstall-lab demo --dir out/demo

labs: lab ## every incident in full, with its figures (20 minutes each)
	bin/unstall-lab score

accuracy: ## services of lab/accuracy and the labs' variants against known answers, and docs/accuracy.md (ONLY=regexp RUNS=3 KEEP=folder)
	$(GO) run ./dev/accuracy -runs $(RUNS) $(if $(ONLY),-only '$(ONLY)',-o docs/accuracy.md) $(if $(KEEP),-keep $(KEEP)) $(ACCURACYFLAGS)

stacks: ## real frameworks and databases of lab/stacks against known answers, with rows of requests and without (ONLY=regexp RUNS=3 KEEP=folder)
	$(GO) run ./dev/accuracy -dir lab/stacks -no-labs -rows both -runs $(RUNS) -o out/stacks.md $(if $(ONLY),-only '$(ONLY)') $(if $(KEEP),-keep $(KEEP)) $(STACKSFLAGS)

thirdparty: build ## diagnose real programs of others, healthy and sick by one setting (ONLY=caddy,etcd/gogc)
	$(GO) run ./dev/thirdparty $(if $(ONLY),--only '$(ONLY)')

recordings: ## record the fixtures again (FIXTURE=go.gc-rate/ or FIXTURE=all)
	@echo 'Sick and healthy services run under load, some seconds each, and what is recorded takes'
	@echo 'the place of what came with the project (git checkout internal lab undoes it). Others'
	@echo 'busy on this machine spoil a recording: it is repeated, and given up after four times.'
	$(GO) run ./dev/recorder $(if $(filter all,$(FIXTURE)),all,one $(FIXTURE))
	$(GO) test -count=1 ./internal/diagnose/...

thresholds: ## where recordings with known causes lie beside each threshold, and docs/thresholds.md (KEPT=folders that KEEP= made)
	$(GO) run ./dev/thresholds $(THRESHOLDSFLAGS) $(KEPT)
	$(GO) test ./dev/docs -update

predictions: ## measure a grid of heap settings and write dev/grid/predictions.md (15 minutes)
	$(GO) run ./dev/grid measure -dir $(GRID)/runs $(GRIDFLAGS)
	$(GO) run ./dev/grid table -dir $(GRID)/runs -o $(PREDICTIONS)
	@rm -rf $(GRID)/last && mv $(GRID)/runs $(GRID)/last   # the next time measures anew

bench: ## speed and memory of reading, recording and making load in one table with goals (15 minutes)
	$(GO) run ./dev/bench/all $(BENCHFLAGS)

bench-dotnet: ## the collections for .NET against the standard ones, on 3.1 and 9: ratios (4 minutes)
	$(GO) run ./dev/bench/collections

bench-spark: build ## a folder of logs (LOGS=) by one and two workers of Spark: ratio
	UNSTALL_BINARY=$(CURDIR)/bin/unstall JAVA_HOME=$$(dev/tools/jdk.sh 17) $$(dev/tools/python.sh spark) dev/bench/spark/spark.py $(SPARKFLAGS) '$(LOGS)'

test-dotnet: ## all tests of the collections for .NET, on 3.1 and 9, and their package built (10 minutes)
	$(GO) test -count=1 -v -timeout 60m ./remedy/dotnet -long

fuzz: ## every fuzz target in turn, FUZZTIME=60s each
	@targets=$$($(GO) test -list '^Fuzz' ./... | awk '/^Fuzz/ {t[n++]=$$1} $$1=="ok" {for (i=0; i<n; i++) print $$2, t[i]; n=0}'); \
	total=$$(wc -l <<<"$$targets"); n=0; failed=; \
	while read -r package target; do n=$$((n+1)); \
		echo "== [$$n/$$total] $$package $$target, $(FUZZTIME)"; \
		$(GO) test "$$package" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x </dev/null || failed+=" $$package.$$target"; \
	done <<<"$$targets"; \
	if [ -n "$$failed" ]; then echo "failed:$$failed" >&2; exit 1; fi

linter := .tools/bin/golangci-lint-$(GOLANGCI_LINT)

lint: $(linter) ## golangci-lint, built once into .tools (2–3 minutes)
	$(linter) run ./...

names: ## figures about names, comments and lines (dev/names)
	$(GO) run ./dev/names

$(linter):
	GOBIN=$(CURDIR)/.tools/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT)
	mv .tools/bin/golangci-lint $@

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
