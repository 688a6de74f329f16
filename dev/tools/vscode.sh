#!/usr/bin/env bash
# Prints a folder with the code of VS Code that reads the problem matchers of tasks (npm's packages of @codingame, which are VS Code's own
# modules): $VSCODE, else one fetched into .tools/vscode before, else from npm (80 MB), each package
# against its checksum in vscode/package-lock.json. To have it anew: rm -r .tools/vscode, and again.
#
#   dev/tools/vscode.sh        find it, or fetch it
#   dev/tools/vscode.sh find   find it, or fail: fetches nothing
#
# stdout is the path alone. Progress and the reason of a failure are on stderr.
set -euo pipefail
trap 'echo "dev/tools/vscode.sh: line $LINENO failed" >&2' ERR
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
home=$PWD/.tools/vscode
lock=dev/tools/vscode/package-lock.json

main() {
	case ${1:-} in
	find | '') ;;
	*) fail "unknown argument $1: there is 'find', and no argument" ;;
	esac
	command -v node >/dev/null || fail "no node here: install Node 20 or later, and npm"
	if [ -n "${VSCODE:-}" ]; then
		[ -f "$VSCODE/node_modules/@codingame/monaco-vscode-task-service-override/package.json" ] || fail "VSCODE=$VSCODE holds no node_modules/@codingame: unset it, or name a folder that does"
		echo "$VSCODE"
		return
	fi
	if ! same; then
		[ "${1:-}" != find ] || fail "no code of VS Code in .tools/vscode: dev/tools/vscode.sh fetches it"
		for tool in npm flock; do
			command -v $tool >/dev/null || fail "no $tool to fetch it with"
		done
		mkdir -p .tools
		exec 9>.tools/vscode.lock
		flock 9
		same || fetch # another run may have fetched it meanwhile
	fi
	echo "$home"
}

fail() {
	echo "dev/tools/vscode.sh: $1" >&2
	exit 1
}

same() { cmp -s "$lock" "$home/package-lock.json" && [ -f "$home/node_modules/@codingame/monaco-vscode-task-service-override/package.json" ]; }

fetch() {
	local new=$home.new
	rm -rf "$new"
	mkdir -p "$new"
	cp dev/tools/vscode/package.json "$lock" "$new"
	echo "dev/tools/vscode.sh: fetching npm's @codingame/monaco-vscode-api (80 MB) into .tools/vscode" >&2
	(cd "$new" && npm ci --ignore-scripts --no-audit --no-fund --silent >"$new/log" 2>&1) || fail "npm cannot fetch them: $(tail -n 1 "$new/log")"
	rm -rf "$home"
	mv "$new" "$home"
}

main "$@"
