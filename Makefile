# Needed: make, bash, and Go as go.mod says (Go 1.21 and later fetch that version
# themselves). `make` alone lists the targets.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: build test demo labs bench fuzz lint help

GO            ?= go
VERSION       ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME      ?= 60s
LAB           ?= go-ballast/
GOLANGCI_LINT ?= v2.15.0

build: ## bin/unstall, one static binary
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-X main.release=$(VERSION)' -o bin/unstall ./cmd/unstall

test: ## what CI runs: gofmt, go vet, all tests
	@echo '== gofmt'
	@bad=$$(find . \( -path ./.tools -o -path ./out \) -prune -o -name '*.go' -print0 | xargs -0 "$$($(GO) env GOROOT)/bin/gofmt" -l); \
	if [ -n "$$bad" ]; then printf 'not formatted, run gofmt -w on:\n%s\n' "$$bad" >&2; exit 1; fi
	@echo '== go vet'
	@$(GO) vet ./...
	@echo '== go test'
	@$(GO) test ./...

demo: build ## diagnose a recorded incident: the sick service, and the fixed one
	@$(call show,sick,A Go gateway at 1$(comma)000 requests/s: the heap is small and memory is free. Why are requests slow?)
	@$(call show,fixed,The same gateway under the same load with GOGC=off GOMEMLIMIT=2GiB. Nothing may be found.)

# truth.json is what only the recorder knows: the diagnosis does not get it.
define show
	cd lab/go-ballast/recorded/$(1); files=$$(ls | grep -vx truth.json | paste -sd' ' -); \
	printf '\n=== %s\n%s\n    $$ cd lab/go-ballast/recorded/%s && unstall %s\n\n' '$(1)' '$(2)' '$(1)' "$$files"; \
	$(CURDIR)/bin/unstall $$files
endef
comma := ,

labs: ## record the incident anew on this machine and judge it (LAB=go.gc-rate/ or LAB=all)
	@echo 'Sick and healthy services run under load, some seconds each, and what is recorded takes'
	@echo 'the place of what came with the project (git checkout cause format lab undoes it). Others'
	@echo 'busy on this machine spoil a recording: it is repeated, and given up after four times.'
	$(GO) run ./lab/record $(if $(filter all,$(LAB)),all,one $(LAB))
	$(GO) test -count=1 ./cause/... ./diagnose/...
	@$(MAKE) --no-print-directory demo

bench: ## speed and memory of reading: ratios, with what was asked
	$(GO) run ./bench

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

$(linter):
	GOBIN=$(CURDIR)/.tools/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT)
	mv .tools/bin/golangci-lint $@

help:
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-6s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
