#!/usr/bin/env bash
# Prints the path of a mariadbd, the server of MariaDB: $MARIADB, the first on PATH, or Debian's, fetched into
# .tools/mariadb (11 MB), with the tables of its system in root/usr/share/mysql beside it. To have that anew:
# rm -r .tools/mariadb, and again. dev/tools/program.sh says more.
#
#   dev/tools/mariadb.sh        find it, or fetch it
#   dev/tools/mariadb.sh find   find it, or fail: fetches nothing
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
name=mariadb
runs=mariadbd
size='11 MB'
packages=(mariadb-server-core mariadb-common libaio1 libnuma1 liburing2 libpcre2-8-0 libssl3 libsystemd0 libcrypt1 zlib1g libcap2 libgcrypt20 libgpg-error0
	liblz4-1 liblzma5 libzstd1)
program "$@"
