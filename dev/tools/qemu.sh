#!/usr/bin/env bash
# Prints the path of a qemu that runs programs for 64-bit ARM on another processor: $QEMU, the first on PATH, or Debian's,
# fetched into .tools/qemu. To have that anew: rm -r .tools/qemu, and again. dev/tools/program.sh says more.
#
#   dev/tools/qemu.sh        find it, or fetch it
#   dev/tools/qemu.sh find   find it, or fail: fetches nothing
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"
name=qemu
runs=qemu-aarch64-static
size='30 MB'
packages=(qemu-user-static)
prepare() { find usr/bin -name "qemu-*" ! -name $runs -delete; } # 40 other processors
program "$@"
