#!/usr/bin/env bash
# Fuzzes what changed: dev/tools/fuzz.sh [BASE]
#
# Runs the fuzz targets of the packages whose files differ from BASE, those with most
# changed lines first: FUZZCOUNT of them (6) for FUZZTIME each (30s). The others are named;
# make fuzz runs all. Without BASE it is $FUZZBASE, else where this branch left the remote's
# default one, else the commit before. Where no history is there to compare with, as in a
# checkout of depth 1, it says so and runs nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec </dev/null
count=${FUZZCOUNT:-6} time=${FUZZTIME:-30s}

base=${1:-${FUZZBASE:-}}
if [ -z "$base" ]; then
	base=$(git merge-base HEAD origin/HEAD 2>/dev/null || true)
	if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD 2>/dev/null)" ]; then
		base=HEAD^1
	fi
fi
if ! base=$(git rev-parse --verify --quiet "$base^{commit}"); then
	echo "no commit to compare with (set FUZZBASE to one): make fuzz runs all targets"
	exit 0
fi

# Lines changed in each package, its testdata included; a package that is gone has no targets.
targets=()
while read -r package; do
	[ -d "$package" ] || continue
	while read -r target; do
		targets+=("$package $target")
	done < <(cat "$package"/*_test.go 2>/dev/null | sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p')
done < <(git diff --numstat --no-renames "$base" | awk -F '\t' '
	{ path = $3; if (sub("/testdata/.*", "", path) || sub("/[^/]*\\.go$", "", path)) lines[path] += $1 + $2 + 1 }
	END { for (p in lines) print lines[p], p }' | sort -k1,1nr -k2 | cut -d ' ' -f 2-)

echo "${#targets[@]} fuzz targets in packages that differ from ${base:0:12}"
failed=
for i in "${!targets[@]}"; do
	read -r package target <<<"${targets[i]}"
	if [ "$i" -ge "$count" ]; then
		echo "left to make fuzz: $package $target"
		continue
	fi
	echo "== $package $target, $time"
	go test "./$package" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 20x || failed+=" $package.$target"
done
if [ -n "$failed" ]; then
	echo "failed:$failed; go test has written what failed below testdata/fuzz" >&2
	exit 1
fi
