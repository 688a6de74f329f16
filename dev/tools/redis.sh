#!/usr/bin/env bash
# Prints the path of a redis-server: $REDIS, the first on PATH, or one fetched into
# .tools/redis before. With none of these it fetches Debian's, where apt reads a Debian
# archive: without root, and with nothing of the host changed. To have it anew:
# rm -r .tools/redis, and again.
#
#   dev/tools/redis.sh        find it, or fetch it (3 MB)
#   dev/tools/redis.sh find   find it, or fail: fetches nothing
#
# stdout is the path alone. Progress and the reason of a failure are on stderr.
set -euo pipefail
trap 'echo "dev/tools/redis.sh: line $LINENO failed" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
project=$PWD
home=$project/.tools/redis

main() {
	case ${1:-} in
	find | '') ;;
	*) fail "unknown argument $1: there is 'find', and no argument" ;;
	esac
	if [ -n "${REDIS:-}" ]; then
		works "$REDIS" || fail "REDIS=$REDIS is no redis-server that starts: unset it, or name one"
		command -v "$REDIS"
		return
	fi
	command -v redis-server && return
	if ! works "$home/redis-server"; then
		[ "${1:-}" != find ] || fail "no redis-server on PATH, nor in .tools/redis: dev/tools/redis.sh fetches one"
		command -v flock >/dev/null || fail "no redis-server here, and no flock to fetch one: install Redis, or set REDIS to its redis-server"
		mkdir -p .tools
		exec 9>.tools/redis.lock
		flock 9
		works "$home/redis-server" || fetch # another run may have fetched it meanwhile
	fi
	echo "$home/redis-server"
}

fail() {
	echo "dev/tools/redis.sh: $1" >&2
	exit 1
}

works() { "$1" --version >/dev/null 2>&1 </dev/null; }

fetch() {
	local new=$home.new
	rm -rf "$new"
	mkdir -p "$new"
	echo "dev/tools/redis.sh: fetching Debian's Redis (redis-tools and what it is linked with, 3 MB) into .tools/redis" >&2
	bash dev/tools/debian.sh "$new" redis-tools libjemalloc2 liblua5.1-0 liblzf1 libatomic1 libsystemd0 libssl3 libhiredis0.14 lua-cjson lua-bitop libcap2 libgcrypt20 libgpg-error0 liblz4-1 liblzma5 libzstd1 ||
		fail "no Redis was fetched: install it, or set REDIS to its redis-server"
	[ -x "$new/root/usr/bin/redis-check-rdb" ] || fail "the package fetched holds no redis-check-rdb, which is redis-server by another name: install Redis, or set REDIS to its redis-server"
	ln -s redis-check-rdb "$new/root/usr/bin/redis-server"
	cat >"$new/redis-server" <<-'END'
		#!/usr/bin/env bash
		# Written by dev/tools/redis.sh: Debian's redis-server with the libraries fetched beside it.
		here=$(dirname "$(readlink -f "$0")")
		export LD_LIBRARY_PATH=$here/root/usr/lib/x86_64-linux-gnu:$here/root/lib/x86_64-linux-gnu:$here/root/usr/lib/aarch64-linux-gnu:$here/root/lib/aarch64-linux-gnu
		exec -a redis-server "$here/root/usr/bin/redis-server" "$@"
	END
	chmod +x "$new/redis-server"
	works "$new/redis-server" || fail "the Redis fetched does not start here: $("$new/redis-server" --version 2>&1 | head -n 1)"
	rm -rf "$home"
	mv "$new" "$home"
	echo "dev/tools/redis.sh: $(grep redis "$home/packages")" >&2
}

main "$@"
