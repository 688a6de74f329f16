#!/usr/bin/env bash
# Prints a folder with Apache Tomcat 9 to embed, its jars in lib/: $TOMCAT, or one fetched
# into .tools/tomcat before. With neither it fetches Debian's libtomcat9-java, where apt
# reads a Debian archive: without root, and with nothing of the host changed. To have it
# anew: rm -r .tools/tomcat, and again.
#
#   dev/tools/tomcat.sh        find it, or fetch it (6 MB)
#   dev/tools/tomcat.sh find   find it, or fail: fetches nothing
#
# stdout is the path alone. Progress and the reason of a failure are on stderr. TOMCAT is
# the folder of an unpacked Tomcat 9.
set -euo pipefail
trap 'echo "dev/tools/tomcat.sh: line $LINENO failed" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
project=$PWD
home=$project/.tools/tomcat

main() {
	case ${1:-} in
	find | '') ;;
	*) fail "unknown argument $1: there is 'find', and no argument" ;;
	esac
	if [ -n "${TOMCAT:-}" ]; then
		[ -f "$TOMCAT/lib/catalina.jar" ] || fail "TOMCAT=$TOMCAT is no Tomcat: it has no lib/catalina.jar: unset it, or name one"
		echo "$TOMCAT"
		return
	fi
	if [ ! -f "$home/lib/catalina.jar" ]; then
		[ "${1:-}" != find ] || fail "no Tomcat 9 in .tools/tomcat: dev/tools/tomcat.sh fetches one"
		command -v flock >/dev/null || fail "no Tomcat 9 here, and no flock to fetch one: set TOMCAT to the folder of one"
		mkdir -p .tools
		exec 9>.tools/tomcat.lock
		flock 9
		[ -f "$home/lib/catalina.jar" ] || fetch # another run may have fetched it meanwhile
	fi
	echo "$home"
}

fail() {
	echo "dev/tools/tomcat.sh: $1" >&2
	exit 1
}

fetch() {
	local new=$home.new jar name
	rm -rf "$new"
	mkdir -p "$new/lib"
	echo "dev/tools/tomcat.sh: fetching Debian's Tomcat (libtomcat9-java, 6 MB) into .tools/tomcat" >&2
	bash dev/tools/debian.sh "$new" libtomcat9-java || fail "no Tomcat 9 was fetched: unpack one, and set TOMCAT to its folder"
	for name in annotations-api api catalina coyote jaspic-api jni juli servlet-api util util-scan; do # what a server without JSP and cluster loads
		jar=$new/root/usr/share/java/tomcat9-$name.jar
		[ -f "$jar" ] || fail "the package fetched holds no tomcat9-$name.jar: unpack a Tomcat 9, and set TOMCAT to its folder"
		cp -L "$jar" "$new/lib/$name.jar"
	done
	rm -r "$new/root"
	rm -rf "$home"
	mv "$new" "$home"
	echo "dev/tools/tomcat.sh: $(cat "$home/packages")" >&2
}

main "$@"
