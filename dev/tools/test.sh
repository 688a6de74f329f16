#!/usr/bin/env bash
# Runs all tests: gofmt, go vet, the tests of every module that is built for users or sent to them, and those of the Python
# package. It runs every part although one before it failed, and ends with what was skipped, what is missing and what failed.
#
#   dev/tools/test.sh         fetches the tools that tests run (dev/tools/setup.sh) while vet compiles; in CI (CI=true) a
#                             tool that cannot be fetched is a failure
#   dev/tools/test.sh quick   fetches nothing, and tests this module alone: a test whose tool is absent is skipped
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec </dev/null
go=${GO:-go}
mode=${1:-all}
out=out/test
mkdir -p out
failed=()

main() {
	local setup=
	if [ "$mode" = all ]; then
		bash dev/tools/setup.sh "$out" &
		setup=$!
		trap 'kill $setup 2>/dev/null' EXIT
	else
		rm -rf "$out"
		mkdir -p "$out"
	fi

	part gofmt check_format
	part "go vet" "$go" vet ./...
	if [ -n "$setup" ]; then
		echo "== tools"
		wait "$setup" || { echo "dev/tools/setup.sh failed" >&2; failed+=(setup); }
		trap - EXIT
		# shellcheck source=/dev/null
		source "$out/environment"
	fi
	part "go test" test_go . ./...
	if [ "$mode" = all ]; then
		part "go vet and go test of remedy/go/ballast, which users import" test_module remedy/go/ballast
		part "go test of dev/otlp: spans that OpenTelemetry's exporters send" test_go dev/otlp -mod=mod ./...
		part "go test of dev/helm: the chart as Helm renders it" test_go dev/helm -mod=mod ./...
		[ -z "${PYTHON:-}" ] || part "tests of the Python package" make --no-print-directory test-python
	fi

	awk -f dev/tools/skipped.awk "$out"/results*
	if [ -s "$out/missing" ]; then
		echo "== tools that are missing"
		cat "$out/missing"
		[ "${CI:-}" != true ] || failed+=("a missing tool is a failure in CI")
	fi
	printf '== %s in %d:%02d min\n' "$([ ${#failed[@]} = 0 ] && echo passed || echo failed)" $((SECONDS / 60)) $((SECONDS % 60))
	[ ${#failed[@]} = 0 ] || { printf '%s\n' "${failed[@]}"; return 1; }
}

# part runs one part, and says how long it took.
part() {
	local name=$1 began=$SECONDS
	shift
	echo "== $name"
	"$@" || failed+=("$name")
	echo "   $((SECONDS - began)) s"
}

check_format() {
	local bad
	bad=$(find . \( -path ./.tools -o -path ./out \) -prune -o -name '*.go' -print0 | xargs -0 "$("$go" env GOROOT)/bin/gofmt" -l) || return
	[ -z "$bad" ] || { printf 'not formatted, run gofmt -w on:\n%s\n' "$bad" >&2; return 1; }
}

# test_go runs the tests of a module and keeps the result of each. A package may take 40 minutes: those that start many processes take
# more than go's 10 on a machine that does other work.
test_go() {
	local module=$1 results=$PWD/$out/results${1//[.\/]/-} awk=$PWD/dev/tools/tests.awk
	shift
	(cd "$module" && "$go" test -timeout 40m -ldflags=-w -v "$@" | awk -v results="$results" -f "$awk")
}

test_module() { (cd "$1" && "$go" vet ./...) && test_go "$1" ./...; }

main "$@"
