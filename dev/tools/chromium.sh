#!/usr/bin/env bash
# Prints the path of a Chromium that draws pages headless: $CHROMIUM, one on PATH,
# or one fetched into .tools/chromium before. With none of these it fetches
# Debian's, where apt reads a Debian archive: without root, and with nothing of
# the host changed. apt resolves and downloads the packages the host lacks and
# checks them against its signed index; dpkg-deb unpacks them, so none of their
# scripts runs. To have a newer one: rm -r .tools/chromium, and again.
#
#   dev/tools/chromium.sh        find it, or fetch it
#   dev/tools/chromium.sh find   find it, or fail: fetches nothing
#
# stdout is the path alone. Progress and the reason of a failure are on stderr.
set -euo pipefail
trap 'echo "dev/tools/chromium.sh: line $LINENO failed" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
project=$PWD
home=$project/.tools/chromium

main() {
	case ${1:-} in
	find | '') ;;
	*) fail "unknown argument $1: there is 'find', and no argument" ;;
	esac
	if [ -n "${CHROMIUM:-}" ]; then
		local named
		named=$(command -v "$CHROMIUM") || fail "CHROMIUM=$CHROMIUM is not a program: unset it, or name one"
		draws "$named" || fail "CHROMIUM=$CHROMIUM does not draw a page headless: $reason"
		echo "$named"
		return
	fi
	find_one && return
	[ "${1:-}" != find ] || fail "no Chromium on PATH (chromium, chromium-browser, google-chrome), nor in .tools/chromium: dev/tools/chromium.sh fetches one"

	for tool in apt-get apt-cache dpkg dpkg-deb flock; do
		command -v $tool >/dev/null || fail "no Chromium on PATH, and no $tool to fetch Debian's: install Chromium or Chrome, or set CHROMIUM to one"
	done
	mkdir -p .tools
	exec 9>.tools/chromium.lock
	flock 9
	find_one && return # another run fetched it meanwhile
	fetch
	draws "$home/chromium" || fail "the Chromium fetched into .tools/chromium does not draw a page: $reason"
	echo "$home/chromium"
}

fail() {
	echo "dev/tools/chromium.sh: $1" >&2
	exit 1
}

find_one() {
	local name path
	for name in chromium chromium-browser google-chrome google-chrome-stable \
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" \
		/Applications/Chromium.app/Contents/MacOS/Chromium "$home/chromium"; do
		path=$(command -v "$name") || continue
		if draws "$path"; then
			echo "$path"
			return
		fi
		echo "dev/tools/chromium.sh: left out $path, it does not draw a page headless: $reason" >&2
	done
	return 1
}

# draws tells whether a program shows a page from a directory of ours: Ubuntu's
# chromium-browser is a snap, which may not read one, or a note to install a snap.
draws() {
	local dir shown
	dir=$(mktemp -d)
	echo '<p id=p></p><script>p.textContent = 6 * 7 + "!"</script>' >"$dir/page.html"
	shown=$(TMPDIR=$dir timeout 60 "$1" --headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync \
		--user-data-dir="$dir/profile" --dump-dom "file://$dir/page.html" 2>"$dir/errors" </dev/null) || true
	reason=$(grep -v '^$' "$dir/errors" | tail -n 1) || reason="it says nothing"
	rm -rf "$dir"
	[[ $shown == *'42!'* ]]
}

fetch() {
	local new=$home.new
	rm -rf "$new"
	mkdir -p "$new/apt/lists/partial" "$new/apt/archives/partial" "$new/root"
	cat >"$new/apt/conf" <<-END
		Dir::Cache "$new/apt";
		Dir::State::extended_states "$new/apt/extended_states";
		APT::Sandbox::User "";
		APT::Keep-Downloaded-Packages "true";
		APT::Install-Recommends "false";
		Debug::NoLocking "true";
		Acquire::Retries "3";
		Acquire::http::Timeout "60";
		Acquire::https::Timeout "60";
		Acquire::Languages "none";
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear DPkg::Pre-Install-Pkgs;
		#clear DPkg::Pre-Invoke;
		#clear DPkg::Post-Invoke;
		#clear Acquire::GzipIndexes;
	END
	echo "dev/tools/chromium.sh: fetching Debian's Chromium into .tools/chromium" >&2

	# With the host's lists of packages where these will do, else with lists of our own:
	# images have them removed, and old ones name files the archive no longer has.
	if ! download "$new"; then
		echo "dev/tools/chromium.sh: apt's lists are missing or old here, fetching them" >&2
		echo "Dir::State::lists \"$new/apt/lists\";" >>"$new/apt/conf"
		quietly "$new" apt-get -c "$new/apt/conf" -q update || fail "apt cannot fetch its lists of packages: $reason"
		local missing
		missing=$(grep -m 1 -o 'Failed to fetch .*' "$new/log") || true # only a warning to apt
		download "$new" || fail "apt cannot fetch Debian's Chromium: ${missing:-$reason}; install Chromium or Chrome, or set CHROMIUM to one"
	fi

	local deb name version
	for deb in "$new"/apt/archives/*.deb; do
		name=$(dpkg-deb --field "$deb" Package)
		version=$(dpkg-deb --field "$deb" Version)
		echo "$name $version" >>"$new/packages"
		# The loader and its libc must be of one make, and the loader is the host's.
		case $name in libc6 | libc-bin) continue ;; esac
		dpkg-deb --extract "$deb" "$new/root"
	done
	[ -x "$new/root/usr/lib/chromium/chromium" ] || fail "the packages fetched hold no /usr/lib/chromium/chromium (where this archive's chromium is a snap, install Chrome or set CHROMIUM)"
	rm -r "$new/apt"
	wrap "$new"
	rm -rf "$home"
	mv "$new" "$home"
	echo "dev/tools/chromium.sh: $(grep '^chromium ' "$home/packages") with $(($(wc -l <"$home/packages") - 1)) packages the host lacks, $(du -sm "$home" | cut -f1) MB" >&2
}

# download leaves what apt says the host lacks for Chromium, and a font: without
# one all text is boxes.
download() {
	quietly "$1" apt-cache -c "$1/apt/conf" show chromium || return 1
	quietly "$1" apt-get -c "$1/apt/conf" -q -y --download-only install chromium fonts-dejavu-core
}

# quietly keeps what a command says, and of a failure the first line that says why.
quietly() {
	local dir=$1
	shift
	"$@" >"$dir/log" 2>&1 </dev/null && return
	reason=$(grep -m 1 '^E: ' "$dir/log" || tail -n 1 "$dir/log")
	return 1
}

# wrap writes the program to start. fontconfig has a file of its own, since the
# unpacked one links to files under /usr.
wrap() {
	local libraries
	libraries=$(cd "$1" && find root/usr/lib root/lib -maxdepth 3 -path '*-linux-gnu*/lib*.so*' -printf '%h\n' 2>>log | sort -u) || true
	cat >"$1/fonts.conf" <<-'END'
		<?xml version="1.0"?>
		<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
		<fontconfig>
		<dir prefix="relative">root/usr/share/fonts</dir>
		<dir>/usr/share/fonts</dir>
		<cachedir prefix="xdg">fontconfig</cachedir>
		<alias binding="same"><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
		<alias binding="same"><family>system-ui</family><prefer><family>DejaVu Sans</family></prefer></alias>
		<alias binding="same"><family>serif</family><prefer><family>DejaVu Serif</family></prefer></alias>
		<alias binding="same"><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
		<match target="pattern">
		<test qual="all" name="family" compare="not_eq"><string>sans-serif</string></test>
		<test qual="all" name="family" compare="not_eq"><string>serif</string></test>
		<test qual="all" name="family" compare="not_eq"><string>monospace</string></test>
		<edit name="family" mode="append_last" binding="strong"><string>DejaVu Sans</string></edit>
		</match>
		</fontconfig>
	END
	cat >"$1/chromium" <<-END
		#!/bin/sh
		# Written by dev/tools/chromium.sh: starts the Chromium unpacked beside it.
		here=\$(dirname "\$(readlink -f "\$0")")
		for dir in $(echo $libraries); do
			LD_LIBRARY_PATH=\${LD_LIBRARY_PATH:+\$LD_LIBRARY_PATH:}\$here/\$dir
		done
		export LD_LIBRARY_PATH
		export FONTCONFIG_FILE="\$here/fonts.conf" XDG_CACHE_HOME="\$here/cache" XDG_CONFIG_HOME="\$here/config"
		exec "\$here/root/usr/lib/chromium/chromium" "\$@"
	END
	chmod +x "$1/chromium"
}

main "$@"
