#!/usr/bin/env bash
# Prints a folder with the schema of Grafana's dashboards (npm's @grafana/schema) and the TypeScript compiler that holds a
# dashboard against it (grafana/check.mjs): $GRAFANA, else one fetched into .tools/grafana before, else from npm (26 MB), each package
# against its checksum in grafana/package-lock.json. To have it anew: rm -r .tools/grafana, and again.
#
#   dev/tools/grafana.sh        find it, or fetch it
#   dev/tools/grafana.sh find   find it, or fail: fetches nothing
#
# stdout is the path alone. Progress and the reason of a failure are on stderr.
set -euo pipefail
trap 'echo "dev/tools/grafana.sh: line $LINENO failed" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
home=$PWD/.tools/grafana
lock=dev/tools/grafana/package-lock.json

main() {
	case ${1:-} in
	find | '') ;;
	*) fail "unknown argument $1: there is 'find', and no argument" ;;
	esac
	command -v node >/dev/null || fail "no node here: install Node 20 or later, and npm"
	if [ -n "${GRAFANA:-}" ]; then
		[ -f "$GRAFANA/node_modules/typescript/package.json" ] || fail "GRAFANA=$GRAFANA holds no node_modules/typescript: unset it, or name a folder that does"
		echo "$GRAFANA"
		return
	fi
	if ! same; then
		[ "${1:-}" != find ] || fail "no schema in .tools/grafana: dev/tools/grafana.sh fetches it"
		for tool in npm flock; do
			command -v $tool >/dev/null || fail "no $tool to fetch the schema with"
		done
		mkdir -p .tools
		exec 9>.tools/grafana.lock
		flock 9
		same || fetch # another run may have fetched it meanwhile
	fi
	echo "$home"
}

fail() {
	echo "dev/tools/grafana.sh: $1" >&2
	exit 1
}

same() { cmp -s "$lock" "$home/package-lock.json" && [ -f "$home/node_modules/typescript/package.json" ]; }

fetch() {
	local new=$home.new
	rm -rf "$new"
	mkdir -p "$new"
	cp dev/tools/grafana/package.json "$lock" "$new"
	echo "dev/tools/grafana.sh: fetching npm's @grafana/schema and typescript (26 MB) into .tools/grafana" >&2
	(cd "$new" && npm ci --ignore-scripts --no-audit --no-fund --silent >"$new/log" 2>&1) || fail "npm cannot fetch them: $(tail -n 1 "$new/log")"
	rm -rf "$home"
	mv "$new" "$home"
}

main "$@"
