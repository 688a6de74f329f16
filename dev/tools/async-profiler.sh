#!/usr/bin/env bash
# Prints the path of async-profiler's agent, libasyncProfiler.so: $ASYNC_PROFILER, else one fetched into
# .tools/async-profiler before, else from Maven Central (1 MB), against its checksum.
#
#   dev/tools/async-profiler.sh        find it, or fetch it
#   dev/tools/async-profiler.sh find   find it, or fail: fetches nothing
#
# stdout is the path alone. Progress and the reason of a failure are on stderr.
set -euo pipefail
trap 'echo "dev/tools/async-profiler.sh: line $LINENO failed" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
version=4.6
sum=a5d3d9f4582c2033fa9db518046e73ef97219801f3e7542b82e3e09261ebe493
home=$PWD/.tools/async-profiler
agent=$home/libasyncProfiler.so
central=${MAVEN_CENTRAL:-https://repo1.maven.org/maven2}

main() {
	case ${1:-} in
	find | '') ;;
	*) fail "unknown argument $1: there is 'find', and no argument" ;;
	esac
	if [ -n "${ASYNC_PROFILER:-}" ]; then
		[ -f "$ASYNC_PROFILER" ] || fail "ASYNC_PROFILER=$ASYNC_PROFILER is no file: unset it, or name libasyncProfiler.so"
		echo "$ASYNC_PROFILER"
		return
	fi
	if [ ! -f "$agent" ]; then
		[ "${1:-}" != find ] || fail "no async-profiler in .tools/async-profiler: dev/tools/async-profiler.sh fetches it"
		command -v flock >/dev/null || fail "no flock to fetch async-profiler with"
		mkdir -p .tools
		exec 9>.tools/async-profiler.lock
		flock 9
		[ -f "$agent" ] || fetch # another run may have fetched it meanwhile
	fi
	echo "$agent"
}

fail() {
	echo "dev/tools/async-profiler.sh: $1" >&2
	exit 1
}

fetch() {
	local new=$home.new machine jar=async-profiler-$version.jar
	case $(uname -m) in
	x86_64) machine=x64 ;;
	aarch64) machine=arm64 ;;
	*) fail "async-profiler is not published for $(uname -m)" ;;
	esac
	rm -rf "$new"
	mkdir -p "$new"
	echo "dev/tools/async-profiler.sh: fetching async-profiler $version from Maven Central (1 MB) into .tools/async-profiler" >&2
	curl -fsSL --retry 3 -o "$new/$jar" "$central/tools/profiler/async-profiler/$version/$jar" || fail "$central/tools/profiler/async-profiler/$version/$jar could not be fetched"
	echo "$sum  $new/$jar" | sha256sum -c --quiet >&2 || fail "$jar is not what it should be"
	python3 - "$new" "$jar" "linux-$machine/libasyncProfiler.so" <<-'END' || fail "$jar could not be unpacked"
		import os, sys, zipfile
		new, jar, name = sys.argv[1:]
		with zipfile.ZipFile(os.path.join(new, jar)) as z, open(os.path.join(new, "libasyncProfiler.so"), "wb") as f:
		    f.write(z.read(name))
	END
	rm "$new/$jar"
	rm -rf "$home"
	mv "$new" "$home"
}

main "$@"
