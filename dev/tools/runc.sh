#!/usr/bin/env bash
# Prints the path of a runc, which runs OCI containers: $RUNC, the first on PATH, or Debian's, fetched into .tools/runc
# (3 MB). To have that anew: rm -r .tools/runc, and again. dev/tools/program.sh says more.
#
#   dev/tools/runc.sh        find it, or fetch it
#   dev/tools/runc.sh find   find it, or fail: fetches nothing
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
name=runc
runs=runc
size='3 MB'
packages=(runc libseccomp2)
program "$@"
