#!/usr/bin/env bash
# Prints the path of an nginx: $NGINX, the first on PATH, or Debian's, fetched into .tools/nginx (3 MB). To have that
# anew: rm -r .tools/nginx, and again. dev/tools/program.sh says more.
#
#   dev/tools/nginx.sh        find it, or fetch it
#   dev/tools/nginx.sh find   find it, or fail: fetches nothing
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
name=nginx
runs=nginx
size='3 MB'
asks=-v
packages=(nginx libpcre2-8-0 libssl3 zlib1g libcrypt1)
program "$@"
