#!/usr/bin/env bash
# Prints the path of a prometheus-alertmanager: $ALERTMANAGER, the first on PATH, or Debian's, fetched into .tools/alertmanager (10 MB). To have
# that anew: rm -r .tools/alertmanager, and again. dev/tools/program.sh says more.
#
#   dev/tools/alertmanager.sh        find it, or fetch it
#   dev/tools/alertmanager.sh find   find it, or fail: fetches nothing
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
name=alertmanager
runs=prometheus-alertmanager
size='10 MB'
packages=(prometheus-alertmanager)
# It looks for its templates in a folder of the host alone: here it is one of the folder that it runs in, by a
# name as long.
prepare() { sed -i 's|/usr/share/prometheus/alertmanager|/proc/self/cwd/alertmanager-shared|g' usr/bin/prometheus-alertmanager; }
program "$@"
