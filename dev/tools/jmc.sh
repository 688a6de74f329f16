#!/usr/bin/env bash
# Prints a folder with the jars of JDK Mission Control's flight-recorder parser and rules: one
# fetched into .tools/jmc before, else from Maven Central (3 MB), each against its checksum.
#
#   dev/tools/jmc.sh        find it, or fetch it
#   dev/tools/jmc.sh find   find it, or fail: fetches nothing
#
# stdout is the path alone. Progress and the reason of a failure are on stderr.
set -euo pipefail
trap 'echo "dev/tools/jmc.sh: line $LINENO failed" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
home=$PWD/.tools/jmc
central=${MAVEN_CENTRAL:-https://repo1.maven.org/maven2}
jars="
43f3fdfb64605f2217d1a60cc442ed9507e4c4f5bc31cf8b4ffedc68d1be2b84 org/openjdk/jmc/flightrecorder/9.1.1/flightrecorder-9.1.1.jar
0bb5224383e09321ff0304e2c40a9b5ec818cfe46c0d49fa5ee80e4c351f9fab org/openjdk/jmc/common/9.1.1/common-9.1.1.jar
0ba3dc69ca78247681801c6ab1c8ff50f7cf40abec855f5e5d4b454044e84466 org/openjdk/jmc/flightrecorder.rules/9.1.1/flightrecorder.rules-9.1.1.jar
537277239cc64172513807b564da42b3631b4b9fe2ea4658adfaa9e3c7b47ed6 org/openjdk/jmc/flightrecorder.rules.jdk/9.1.1/flightrecorder.rules.jdk-9.1.1.jar
d74a3334fb35195009b338a951f918203d6bbca3d1d359033dc33edd1cadc9ef org/lz4/lz4-java/1.8.0/lz4-java-1.8.0.jar
b09e2cd5c36a7127e091df9be628278b1166b40bc08b9de8196ccddb0cccd67f org/owasp/encoder/encoder/1.2.3/encoder-1.2.3.jar
"

main() {
	case ${1:-} in
	find | '') ;;
	*) fail "unknown argument $1: there is 'find', and no argument" ;;
	esac
	if ! complete; then
		[ "${1:-}" != find ] || fail "no Mission Control in .tools/jmc: dev/tools/jmc.sh fetches it"
		command -v flock >/dev/null || fail "no flock to fetch Mission Control with"
		mkdir -p .tools
		exec 9>.tools/jmc.lock
		flock 9
		complete || fetch # another run may have fetched it meanwhile
	fi
	echo "$home"
}

# complete tells whether all jars are there: an older checkout may have fetched fewer.
complete() {
	local sum path
	while read -r sum path; do
		[ -z "$path" ] || [ -f "$home/${path##*/}" ] || return 1
	done <<<"$jars"
}

fail() {
	echo "dev/tools/jmc.sh: $1" >&2
	exit 1
}

fetch() {
	local new=$home.new sum path
	rm -rf "$new"
	mkdir -p "$new"
	echo "dev/tools/jmc.sh: fetching the flight-recorder parser and rules of JDK Mission Control 9.1.1 from Maven Central (2.5 MB) into .tools/jmc" >&2
	while read -r sum path; do
		[ -n "$path" ] || continue
		curl -fsSL --retry 3 -o "$new/${path##*/}" "$central/$path" || fail "$central/$path could not be fetched"
		echo "$sum  $new/${path##*/}" | sha256sum -c --quiet >&2 || fail "${path##*/} is not what it should be"
	done <<<"$jars"
	rm -rf "$home"
	mv "$new" "$home"
}

main "$@"
