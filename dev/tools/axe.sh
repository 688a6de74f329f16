#!/usr/bin/env bash
# Prints the path of axe.min.js, which tests hold the pages of reports against: $AXE, or
# axe-core of npm, pinned by version and checksum, fetched into .tools/axe before (0.6 MB).
# With neither it fetches that by npm. To have it anew: rm -r .tools/axe, and again.
#
#   dev/tools/axe.sh        find it, or fetch it
#   dev/tools/axe.sh find   find it, or fail: fetches nothing
#
# stdout is the path alone. Progress and the reason of a failure are on stderr.
set -euo pipefail
trap 'echo "dev/tools/axe.sh: line $LINENO failed" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
project=$PWD
home=$project/.tools/axe
package=axe-core@4.10.3
sum=880970c081707360e64f34cea25ff91892f5bc95675b0776925b9709dd8a68bb # of axe.min.js

main() {
	case ${1:-} in
	find | '') ;;
	*) fail "unknown argument $1: there is 'find', and no argument" ;;
	esac
	if [ -n "${AXE:-}" ]; then
		[ -f "$AXE" ] || fail "AXE=$AXE is no file: unset it, or name axe.min.js"
		echo "$AXE"
		return
	fi
	if ! checked "$home/axe.min.js"; then
		[ "${1:-}" != find ] || fail "no axe-core in .tools/axe: dev/tools/axe.sh fetches it"
		for tool in npm tar sha256sum flock; do
			command -v $tool >/dev/null || fail "no $tool to fetch $package with: set AXE to an axe.min.js"
		done
		mkdir -p .tools
		exec 9>.tools/axe.lock
		flock 9
		checked "$home/axe.min.js" || fetch # another run may have fetched it meanwhile
	fi
	echo "$home/axe.min.js"
}

fail() {
	echo "dev/tools/axe.sh: $1" >&2
	exit 1
}

checked() { [ -f "$1" ] && echo "$sum  $1" | sha256sum --check --status; }

fetch() {
	local new=$home.new
	rm -rf "$new"
	mkdir -p "$new"
	echo "dev/tools/axe.sh: fetching $package (0.6 MB) into .tools/axe" >&2
	(cd "$new" && npm pack --silent --cache "$new/npm" "$package" >/dev/null 2>"$new/log") || fail "npm cannot fetch $package ($(tail -n 1 "$new/log")): set AXE to an axe.min.js"
	tar -xzf "$new"/axe-core-*.tgz -C "$new" --strip-components=1 package/axe.min.js package/LICENSE
	checked "$new/axe.min.js" || fail "axe.min.js of $package is not what it was: its checksum differs"
	rm -rf "$new"/*.tgz "$new/npm" "$new/log" "$home"
	mv "$new" "$home"
}

main "$@"
