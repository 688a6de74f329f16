#!/usr/bin/env bash
# Prints the path of a prometheus: $PROMETHEUS, the first on PATH, or Debian's, fetched into .tools/prometheus (30 MB). To have
# that anew: rm -r .tools/prometheus, and again. dev/tools/program.sh says more.
#
#   dev/tools/prometheus.sh        find it, or fetch it
#   dev/tools/prometheus.sh find   find it, or fail: fetches nothing
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
name=prometheus
runs=prometheus
size='30 MB'
packages=(prometheus)
program "$@"
