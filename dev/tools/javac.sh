#!/usr/bin/env bash
# Prints the path of a javac that compiles for Java 11: $JAVAC, the first on PATH or in
# /usr/lib/jvm of version 11 or later, or one fetched into .tools/javac before. With none
# of these it fetches Eclipse's compiler, Debian's libeclipse-jdt-core-java, where apt
# reads a Debian archive, and a JDK 11 to run it (dev/tools/jdk.sh): without root, and with
# nothing of the host changed. To have it anew: rm -r .tools/javac, and again.
#
#   dev/tools/javac.sh        find it, or fetch it (6 MB)
#   dev/tools/javac.sh find   find it, or fail: fetches nothing
#
# stdout is the path alone. Progress and the reason of a failure are on stderr. The one
# fetched takes javac's -d, -cp, -nowarn, -proc:none and --release.
set -euo pipefail
trap 'echo "dev/tools/javac.sh: line $LINENO failed" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
project=$PWD
home=$project/.tools/javac

main() {
	case ${1:-} in
	find | '') ;;
	*) fail "unknown argument $1: there is 'find', and no argument" ;;
	esac
	if [ -n "${JAVAC:-}" ]; then
		local named
		named=$(command -v "$JAVAC") || fail "JAVAC=$JAVAC is not a program: unset it, or name one"
		works "$named" || fail "JAVAC=$JAVAC does not compile for Java 11: $reason"
		echo "$named"
		return
	fi
	find_one && return
	[ "${1:-}" != find ] || fail "no javac of version 11 or later on PATH or in /usr/lib/jvm, nor in .tools/javac: dev/tools/javac.sh fetches one"

	command -v flock >/dev/null || fail "no javac here, and no flock to fetch one: install a JDK, or set JAVAC to its javac"
	mkdir -p .tools
	exec 9>.tools/javac.lock
	flock 9
	find_one && return # another run fetched it meanwhile
	fetch
	works "$home/javac" || fail "the compiler fetched into .tools/javac does not work here: $reason"
	echo "$home/javac"
}

fail() {
	echo "dev/tools/javac.sh: $1" >&2
	exit 1
}

find_one() {
	local path
	while read -r path; do
		if works "$path"; then
			echo "$path"
			return
		fi
	done < <({ type -ap javac || true; find /usr/lib/jvm -mindepth 3 -maxdepth 3 -path '*/bin/javac' 2>/dev/null | sort -V || true; echo "$home/javac"; } | awk '!seen[$0]++')
	return 1
}

# works tells whether a program compiles for Java 11.
works() {
	local dir
	[ -x "$1" ] || { reason="it is not there"; return 1; }
	dir=$(mktemp -d)
	echo 'class A { static java.util.List<String> a() { return java.util.List.of("a".strip()); } }' >"$dir/A.java"
	if "$1" --release 11 -proc:none -nowarn -d "$dir" "$dir/A.java" >"$dir/said" 2>&1 </dev/null && [ -s "$dir/A.class" ]; then
		rm -r "$dir"
		return
	fi
	reason=$(head -n 1 "$dir/said")
	rm -r "$dir"
	return 1
}

fetch() {
	local new=$home.new
	rm -rf "$new"
	mkdir -p "$new"
	echo "dev/tools/javac.sh: fetching Debian's compiler (libeclipse-jdt-core-java, 6 MB) into .tools/javac" >&2
	bash dev/tools/jdk.sh 11 >/dev/null || fail "no JDK 11 to run the compiler with: install a JDK, or set JAVAC to its javac"
	bash dev/tools/debian.sh "$new" libeclipse-jdt-core-java || fail "no compiler was fetched: install a JDK, or set JAVAC to its javac"
	local jar
	jar=$(find "$new/root/usr/share/java" -name 'eclipse-jdt-core*.jar' -o -name 'org.eclipse.jdt.core*.jar' | sort | head -n 1)
	[ -n "$jar" ] || fail "the package fetched holds no eclipse-jdt-core jar: install a JDK, or set JAVAC to its javac"
	cp -L "$jar" "$new/compiler.jar"
	rm -r "$new/root"
	cat >"$new/javac" <<-'END'
		#!/usr/bin/env bash
		# Written by dev/tools/javac.sh: Eclipse's compiler with javac's --release, for which
		# it takes the library of that JDK: javac's list of old ones is not there.
		set -euo pipefail
		here=$(dirname "$(readlink -f "$0")")
		jdk() { bash "$here/../../dev/tools/jdk.sh" "$1" find; }
		args=()
		while [ $# -gt 0 ]; do
			if [ "$1" = --release ]; then
				args+=(-source "$2" -target "$2" --system "$(jdk "$2")")
				shift
			else
				args+=("$1")
			fi
			shift
		done
		exec "$(jdk 11)/bin/java" -cp "$here/compiler.jar" org.eclipse.jdt.internal.compiler.batch.Main "${args[@]}"
	END
	chmod +x "$new/javac"
	rm -rf "$home"
	mv "$new" "$home"
	echo "dev/tools/javac.sh: $(cat "$home/packages")" >&2
}

main "$@"
