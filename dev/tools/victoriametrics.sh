#!/usr/bin/env bash
# Prints the path of a victoria-metrics: $VICTORIAMETRICS, the first on PATH, or Debian's, fetched into .tools/victoriametrics (20 MB). To have
# that anew: rm -r .tools/victoriametrics, and again. dev/tools/program.sh says more.
#
#   dev/tools/victoriametrics.sh        find it, or fetch it
#   dev/tools/victoriametrics.sh find   find it, or fail: fetches nothing
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
name=victoriametrics
runs=victoria-metrics
size='20 MB'
packages=(victoria-metrics)
program "$@"
