#!/usr/bin/env bash
# Prints the path of a stress (a generator of load): $STRESS, the first on PATH, or Debian's, fetched into .tools/stress
# (30 kB). To have that anew: rm -r .tools/stress, and again. dev/tools/program.sh says more. What the classes of work
# are told by was set on this version; Debian 12 and 13 have it.
#
#   dev/tools/stress.sh        find it, or fetch it
#   dev/tools/stress.sh find   find it, or fail: fetches nothing
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
name=stress
runs=stress
size='30 kB'
packages=(stress=1.0.7-1)
says='stress 1.0.7'
program "$@"
