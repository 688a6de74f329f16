#!/usr/bin/env bash
# Prints the path of a redis-server: $REDIS, the first on PATH, or Debian's, fetched into .tools/redis (3 MB). To have
# that anew: rm -r .tools/redis, and again. dev/tools/program.sh says more.
#
#   dev/tools/redis.sh        find it, or fetch it
#   dev/tools/redis.sh find   find it, or fail: fetches nothing
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
name=redis
runs=redis-server
size='3 MB'
packages=(redis-tools libjemalloc2 liblua5.1-0 liblzf1 libatomic1 libsystemd0 libssl3 libhiredis0.14 lua-cjson lua-bitop libcap2 libgcrypt20
	libgpg-error0 liblz4-1 liblzma5 libzstd1)
prepare() { ln -s redis-check-rdb usr/bin/redis-server; } # it is the server by another name; the package of the server is a link alone
program "$@"
