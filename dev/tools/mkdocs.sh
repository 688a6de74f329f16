#!/usr/bin/env bash
# Prints the path of mkdocs with the theme Material: $MKDOCS, or one made in .tools/mkdocs of the host's python3 and PyPI's
# packages (30 MB). What is fetched is pinned and checked by dev/tools/mkdocs.txt, which pip-compile --generate-hashes made of
# mkdocs-material. Beside it comes npm's iframe-worker.js (2 KB), by which search works on a site that is opened from a disk: the
# theme would have browsers load it from elsewhere. To have it anew: rm -r .tools/mkdocs, and again.
#
#   dev/tools/mkdocs.sh        find it, or fetch it
#   dev/tools/mkdocs.sh find   find it, or fail: fetches nothing
#
# stdout is the path alone. Progress and the reason of a failure are on stderr.
set -euo pipefail
trap 'echo "dev/tools/mkdocs.sh: line $LINENO failed" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

package=iframe-worker@1.0.4
sum=e8e412dbcfea9b7e31b5ffa288d7b6035915e714c542f4176a0cdbe262fc9609 # of its shim/index.js

main() {
	case ${1:-} in
	find | '') ;;
	*) fail "unknown argument $1: there is 'find', and no argument" ;;
	esac
	local home=$PWD/.tools/mkdocs
	local mkdocs=${MKDOCS:-$home/bin/mkdocs}
	if ! works "$mkdocs"; then
		[ -z "${MKDOCS:-}" ] || fail "MKDOCS=$MKDOCS does not start: unset it, or name one"
		[ "${1:-}" != find ] || fail "no mkdocs in .tools/mkdocs: dev/tools/mkdocs.sh makes one"
		command -v python3 >/dev/null || fail "no python3 here: install it, with its venv"
		mkdir -p .tools
		exec 9>.tools/mkdocs.lock
		flock 9
		works "$mkdocs" || fetch "$home"
	fi
	echo "$mkdocs"
}

works() { [ -f "$(dirname "$1")/../iframe-worker.js" ] && "$1" --version >/dev/null 2>&1; }

fetch() {
	echo "dev/tools/mkdocs.sh: fetching what dev/tools/mkdocs.txt names (30 MB) into .tools/mkdocs" >&2
	rm -rf "$1"
	python3 -m venv "$1" >&2 || fail "python3 -m venv fails: install python3-venv"
	"$1/bin/python" -m pip install --disable-pip-version-check --no-cache-dir -q --require-hashes --no-deps -r dev/tools/mkdocs.txt >"$1/log" 2>&1 ||
		fail "pip cannot fetch what dev/tools/mkdocs.txt names: $(grep -i -m 1 err "$1/log" || tail -n 1 "$1/log")"
	(cd "$1" && npm pack --silent --cache "$1/npm" "$package" >/dev/null 2>"$1/log") || fail "npm cannot fetch $package ($(tail -n 1 "$1/log"))"
	tar -xzOf "$1"/iframe-worker-*.tgz package/shim/index.js >"$1/iframe-worker.js"
	rm -rf "$1"/iframe-worker-*.tgz "$1/npm"
	echo "$sum  $1/iframe-worker.js" | sha256sum --check --status || fail "$package is not what it was: its checksum differs"
	works "$1/bin/mkdocs" || fail "what was fetched does not start"
}

fail() {
	echo "dev/tools/mkdocs.sh: $1" >&2
	exit 1
}

main "$@"
