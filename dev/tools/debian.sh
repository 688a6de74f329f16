#!/usr/bin/env bash
# Fetches Debian packages and unpacks them into a folder: without root, and with nothing
# of the host changed. Packages they depend on are not fetched. apt checks them against
# its signed index; dpkg-deb unpacks them, so none of their scripts runs.
#
#   dev/tools/debian.sh DIR PACKAGE...    DIR/root holds their files, DIR/packages names and versions
#
# A failure's reason is one line on stderr.
set -euo pipefail
trap 'echo "dev/tools/debian.sh: line $LINENO failed" >&2' ERR

main() {
	[ $# -ge 2 ] || fail "what for? dev/tools/debian.sh DIR PACKAGE..."
	for tool in apt-get dpkg dpkg-deb; do
		command -v $tool >/dev/null || fail "no $tool to fetch Debian's $2 with"
	done
	mkdir -p "$1"
	dir=$(cd "$1" && pwd)
	shift
	rm -rf "$dir/apt" "$dir/root" "$dir/packages"
	mkdir -p "$dir/apt/lists/partial" "$dir/apt/archives/partial" "$dir/apt/fetched" "$dir/root"
	cat >"$dir/apt/conf" <<-END
		Dir::Cache "$dir/apt";
		APT::Sandbox::User "";
		Debug::NoLocking "true";
		Acquire::Retries "3";
		Acquire::http::Timeout "60";
		Acquire::https::Timeout "60";
		Acquire::Languages "none";
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear Acquire::GzipIndexes;
	END

	# With the host's lists of packages where these will do, else with lists of our own:
	# images have them removed, and old ones name files the archive no longer has.
	if ! download "$@"; then
		echo "Dir::State::lists \"$dir/apt/lists\";" >>"$dir/apt/conf"
		quietly apt-get -c "$dir/apt/conf" -q update || fail "apt cannot fetch its lists of packages: $reason"
		local missing
		missing=$(grep -m 1 -o 'Failed to fetch .*' "$dir/apt/log") || true # only a warning to apt
		download "$@" || fail "apt cannot fetch Debian's $*: ${missing:-$reason}"
	fi
	local deb
	for deb in "$dir"/apt/fetched/*.deb; do
		dpkg-deb --show --showformat '${Package} ${Version}\n' "$deb" >>"$dir/packages"
		dpkg-deb --extract "$deb" "$dir/root"
	done
	rm -r "$dir/apt"
}

download() {
	(cd "$dir/apt/fetched" && quietly apt-get -c "$dir/apt/conf" -q download "$@") && return
	reason=$(why)
	return 1
}

# quietly keeps what a command says, and of a failure the first line that says why.
quietly() {
	"$@" >"$dir/apt/log" 2>&1 </dev/null && return
	reason=$(why)
	return 1
}

why() { grep -m 1 '^E: ' "$dir/apt/log" || tail -n 1 "$dir/apt/log"; }

fail() {
	echo "dev/tools/debian.sh: $1" >&2
	exit 1
}

main "$@"
