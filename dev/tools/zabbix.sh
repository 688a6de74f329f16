#!/usr/bin/env bash
# Prints the path of a zabbix_server for PostgreSQL: $ZABBIX, the first on PATH, or Debian's, fetched into .tools/zabbix
# (15 MB), with its frontend and the tables of its database. To have that anew: rm -r .tools/zabbix, and again.
# dev/tools/program.sh says more.
#
#   dev/tools/zabbix.sh        find it, or fetch it
#   dev/tools/zabbix.sh find   find it, or fail: fetches nothing
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
name=zabbix
runs=zabbix_server
size='15 MB'
packages=(zabbix-server-pgsql libevent-2.1-7 libopenipmi0 libsnmp40 libssh2-1 libodbc2 libpq5 libcurl3-gnutls libldap-2.5-0 libsasl2-2 libpci3
	libnghttp2-14 librtmp1 libpsl5 libbrotli1 libltdl7 libmariadb3 libpcre2-8-0 libxml2 libwrap0 libsnmp-base)
program "$@"
