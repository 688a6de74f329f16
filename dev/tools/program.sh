# Sourced by scripts that print the path of a program of Debian: one named by a variable, the first on PATH, or
# one fetched into .tools before; with none of these it fetches Debian's, where apt reads a Debian archive: without
# root, and with nothing of the host changed. A script sets what of this it needs and calls `program "$@"`:
#
#   name=redis                    of the script, and of the folder in .tools
#   runs=redis-server             the program, as it is on PATH and in usr/bin or usr/sbin of the packages
#   packages=(redis-tools ...)    with what it is linked with; PACKAGE=VERSION pins one
#   size='3 MB'                   of the packages
#   asks=--version                what it is started with to see whether it starts
#   says='stress 1.0.7'           what its answer to that must hold, where only one version will do
#   prepare() { ... }             what is to be done to the files, in the folder that holds them
#
# The variable is the script's name in capitals. With the argument `find` nothing is fetched. stdout is the path
# alone; progress and the reason of a failure are on stderr.
set -euo pipefail
trap 'echo "dev/tools/${name:-program}.sh: line $LINENO failed" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
asks=--version says='' size=''
prepare() { :; }

program() {
	local variable=${name^^} home=$PWD/.tools/$name found
	case ${1:-} in
	find | '') ;;
	*) fail "unknown argument $1: there is 'find', and no argument" ;;
	esac
	if [ -n "${!variable:-}" ]; then
		works "${!variable}" || fail "$variable=${!variable} is no ${says:-$runs} that starts: unset it, or name one"
		command -v "${!variable}"
		return
	fi
	if found=$(command -v "$runs") && works "$found"; then
		echo "$found"
		return
	fi
	if ! works "$home/$runs"; then
		[ "${1:-}" != find ] || fail "no ${says:-$runs} on PATH, nor in .tools/$name: dev/tools/$name.sh fetches one"
		command -v flock >/dev/null || fail "no ${says:-$runs} here, and no flock to fetch one: install it, or set $variable to its $runs"
		mkdir -p .tools
		exec 9>".tools/$name.lock"
		flock 9
		works "$home/$runs" || fetch "$home" "$variable" # another run may have fetched it meanwhile
	fi
	echo "$home/$runs"
}

fail() {
	echo "dev/tools/$name.sh: $1" >&2
	exit 1
}

works() {
	local answer
	answer=$("$1" $asks 2>&1 </dev/null) && [[ $answer == *"$says"* ]]
}

fetch() {
	local home=$1 variable=$2 new=$1.new at
	rm -rf "$new"
	mkdir -p "$new"
	echo "dev/tools/$name.sh: fetching Debian's ${packages[*]} ($size) into .tools/$name" >&2
	bash dev/tools/debian.sh "$new" "${packages[@]}" || fail "no $runs was fetched: install it, or set $variable to it"
	(cd "$new/root" && prepare)
	for at in usr/bin usr/sbin; do
		[ ! -x "$new/root/$at/$runs" ] || break
	done
	[ -x "$new/root/$at/$runs" ] || fail "the packages fetched hold no $runs: install it, or set $variable to it"
	cat >"$new/$runs" <<-END
		#!/usr/bin/env bash
		# Written by dev/tools/program.sh: Debian's $runs with the libraries fetched beside it.
		root=\$(dirname "\$(readlink -f "\$0")")/root
		for machine in x86_64-linux-gnu aarch64-linux-gnu; do
			LD_LIBRARY_PATH=\${LD_LIBRARY_PATH:+\$LD_LIBRARY_PATH:}\$root/usr/lib/\$machine:\$root/lib/\$machine
		done
		export LD_LIBRARY_PATH
		exec -a $runs "\$root/$at/$runs" "\$@"
	END
	chmod +x "$new/$runs"
	works "$new/$runs" || fail "the $runs fetched does not start here: $("$new/$runs" $asks 2>&1 | head -n 1)"
	rm -rf "$home"
	mv "$new" "$home"
	echo "dev/tools/$name.sh: $(tr '\n' ' ' <"$home/packages")" >&2
}
