#!/usr/bin/env bash
# Prints the path of the root of a small Debian without Go, .NET or a JVM, to install packages into: fetched into
# .tools/rootfs (15 MB), unpacked, not configured. To have it anew: rm -r .tools/rootfs, and again.
#
#   dev/tools/rootfs.sh        find it, or fetch it
#   dev/tools/rootfs.sh find   find it, or fail: fetches nothing
set -euo pipefail
trap 'echo "dev/tools/rootfs.sh: line $LINENO failed" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
home=$PWD/.tools/rootfs
packages=(base-files dash bash diffutils grep libc-bin coreutils dpkg tar sed libc6 libselinux1 libpcre2-8-0 zlib1g liblzma5 libzstd1 libmd0 libbz2-1.0 libacl1 libattr1 libgmp10 libtinfo6 libgcrypt20 libgpg-error0)

if [ ! -x "$home/root/usr/bin/dpkg" ]; then
	[ "${1:-}" != find ] || { echo "dev/tools/rootfs.sh: none in .tools/rootfs: dev/tools/rootfs.sh fetches one" >&2; exit 1; }
	mkdir -p .tools
	exec 9>.tools/rootfs.lock
	flock 9
	if [ ! -x "$home/root/usr/bin/dpkg" ]; then
		echo "dev/tools/rootfs.sh: fetching Debian's ${packages[*]} (15 MB) into .tools/rootfs" >&2
		rm -rf "$home.new"
		bash dev/tools/debian.sh "$home.new" "${packages[@]}"
		mkdir -p "$home.new/root/var/lib/dpkg/"{info,updates} "$home.new/root/"{proc,tmp,dev}
		touch "$home.new/root/var/lib/dpkg/"{status,available}
		rm -rf "$home"
		mv "$home.new" "$home"
	fi
fi
echo "$home/root"
