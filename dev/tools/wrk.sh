#!/usr/bin/env bash
# Prints the path of a wrk: $WRK, the first on PATH, or Debian's, fetched into .tools/wrk (1 MB). To have that
# anew: rm -r .tools/wrk, and again. dev/tools/program.sh says more.
#
#   dev/tools/wrk.sh        find it, or fetch it
#   dev/tools/wrk.sh find   find it, or fail: fetches nothing
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
name=wrk
runs=wrk
size='1 MB'
asks=-v
packages=(wrk libluajit-5.1-2 libluajit-5.1-common libssl3)
# wrk says its version and fails.
works() {
	local answer
	answer=$("$1" -v 2>&1 </dev/null || true) && [[ $answer == wrk* ]]
}
program "$@"
