#!/usr/bin/env bash
# Prints the path of a Python with what the tests of python/ need beside unstall: $PYTHON, or one made in .tools/python of the
# host's python3 and PyPI's duckdb and moto (a store that speaks S3; 60 MB), and with the argument `spark` also pyspark (430 MB).
# What is fetched is pinned and checked by dev/tools/python*.txt, which pip-compile --generate-hashes made of the packages named
# there. To have it anew: rm -r .tools/python, and again.
#
#   dev/tools/python.sh               find it, or fetch it
#   dev/tools/python.sh spark         with pyspark
#   dev/tools/python.sh find [spark]  find it, or fail: fetches nothing
#
# stdout is the path alone. Progress and the reason of a failure are on stderr.
set -euo pipefail
trap 'echo "dev/tools/python.sh: line $LINENO failed" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

main() {
	local find= spark= word
	for word in "$@"; do
		case $word in
		find) find=1 ;;
		spark) spark=1 ;;
		*) fail "unknown argument $word: there are 'find' and 'spark'" ;;
		esac
	done
	home=$PWD/.tools/python
	local python=${PYTHON:-$home/bin/python}
	if [ -n "${PYTHON:-}" ] || has "$python" "$spark"; then
		has "$python" "$spark" || fail "PYTHON=$PYTHON has no duckdb or moto${spark:+, or no pyspark}: install them, or unset it"
		command -v "$python"
		return
	fi
	[ -z "$find" ] || fail "no Python with duckdb and moto${spark:+ and pyspark} in .tools/python: dev/tools/python.sh${spark:+ spark} makes one"
	command -v python3 >/dev/null || fail "no python3 here: install it, with its venv"
	mkdir -p .tools
	exec 9>.tools/python.lock
	flock 9
	if ! has "$python" ""; then
		rm -rf "$home"
		python3 -m venv "$home" >&2 || fail "python3 -m venv fails: install python3-venv"
		fetch python.txt '60 MB'
	fi
	[ -z "$spark" ] || has "$python" 1 || fetch python-spark.txt '430 MB'
	has "$python" "$spark" || fail "what was fetched does not start"
	echo "$python"
}

has() { "$1" -c "import duckdb, moto, flask_cors${2:+, pyspark}" 2>/dev/null; }

fetch() {
	echo "dev/tools/python.sh: fetching what dev/tools/$1 names ($2) into .tools/python" >&2
	"$home/bin/python" -m pip install --disable-pip-version-check --no-cache-dir -q --require-hashes --no-deps --no-build-isolation -r "dev/tools/$1" >"$home/log" 2>&1 ||
		fail "pip cannot fetch what dev/tools/$1 names: $(grep -i -m 1 err "$home/log" || tail -n 1 "$home/log")"
}

fail() {
	echo "dev/tools/python.sh: $1" >&2
	exit 1
}

main "$@"
