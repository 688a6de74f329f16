#!/usr/bin/env bash
# Prints the path of a postgres, the server of PostgreSQL: $POSTGRES, the first on PATH, or Debian's, fetched into
# .tools/postgres (20 MB), with initdb and psql beside it. To have that anew: rm -r .tools/postgres, and again.
# dev/tools/program.sh says more.
#
#   dev/tools/postgres.sh        find it, or fetch it
#   dev/tools/postgres.sh find   find it, or fail: fetches nothing
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
name=postgres
runs=postgres
size='20 MB'
packages=(postgresql-15 postgresql-client-15 libpq5 libicu72 libxml2 libldap-2.5-0 libsasl2-2 libssl3 libsystemd0 liblz4-1 libzstd1 libedit2 libbsd0 libmd0
	libcap2 libgcrypt20 libgpg-error0 liblzma5)
prepare() { mkdir -p usr/bin && ln -s ../lib/postgresql/15/bin/postgres usr/bin/postgres; }
program "$@"
