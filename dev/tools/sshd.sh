#!/usr/bin/env bash
# Prints the path of an OpenSSH server: $SSHD, the first on PATH, or Debian's, fetched into .tools/sshd (2 MB). To have
# that anew: rm -r .tools/sshd, and again. dev/tools/program.sh says more.
#
#   dev/tools/sshd.sh        find it, or fetch it
#   dev/tools/sshd.sh find   find it, or fail: fetches nothing
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
name=sshd
runs=sshd
size='2 MB'
packages=(openssh-server libwrap0 libnsl2 libtirpc3 libkeyutils1 libgssapi-krb5-2 libkrb5-3 libk5crypto3 libkrb5support0 libcom-err2)
works() { [[ $("$1" -V 2>&1 </dev/null) == *OpenSSH_* ]]; } # older ones know no -V, and say what they are all the same
program "$@"
