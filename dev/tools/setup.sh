#!/usr/bin/env bash
# Finds or fetches everything that the tests run beside Go, several tools at a time, each by its script in this folder.
# It writes two files into a folder:
#
#   environment   export NAME=PATH of every tool there is: a test whose tool is named fails where it would be skipped
#   missing       of every tool that is not there a line: what, why, which tests are skipped
#
#   dev/tools/setup.sh DIR        find them, or fetch them into .tools (1.3 GB, the first time)
#   dev/tools/setup.sh DIR find   find them: fetches nothing
#
# It succeeds with tools missing. Progress is on stderr.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec </dev/null

# The variable, the script with its arguments, and the tests that run it: what takes longest to fetch comes first.
tools='
CHROMIUM|chromium|pages in a browser
DOTNET|dotnet|a live .NET process
DOTNET9|dotnet9|a live process of .NET 9
JDK11|jdk 11|a live JVM of Java 11
JDK17|jdk 17|a live JVM of Java 17
JDK21|jdk 21|a live JVM of Java 21
JDK25|jdk 25|a live JVM of Java 25
PYTHON|python|the Python package with DuckDB and S3
PROMETHEUS|prometheus|what Prometheus stores and which rules it accepts
VICTORIAMETRICS|victoriametrics|what VictoriaMetrics stores
POSTGRES|postgres|what Zabbix stores
ZABBIX|zabbix|what Zabbix stores
GRAFANA|grafana|the dashboard against the schema of Grafana
VSCODE|vscode|the problem matcher in the code of VS Code
ALERTMANAGER|alertmanager|alerts through Alertmanager
JAVAC|javac|programs compiled for a live JVM
TOMCAT|tomcat|a live Tomcat
ASYNC_PROFILER|async-profiler|recordings of async-profiler
REDIS|redis|a live Redis
NGINX|nginx|a live nginx
RUNC|runc|containers
SSHD|sshd|another host by SSH
AXE|axe|accessibility of pages
'

main() {
	dir=${1:?which folder? dev/tools/setup.sh DIR}
	only=${2:-}
	rm -rf "$dir"
	mkdir -p "$dir/tool"
	local variable script tests
	while IFS='|' read -r variable script tests; do
		[ -n "$variable" ] || continue
		while [ "$(jobs -rp | wc -l)" -ge 6 ]; do wait -n || true; done
		provide "$variable" "$script" "$tests" &
	done <<<"$tools"
	wait
	cat "$dir"/tool/*.found >"$dir/environment" 2>/dev/null || true
	cat "$dir"/tool/*.missing >"$dir/missing" 2>/dev/null || true
	echo "setup: $(wc -l <"$dir/environment") tools are here, missing: $(wc -l <"$dir/missing") ($SECONDS s)" >&2
}

# provide runs one script. It shows what the script fetches, and of a failure the first line.
provide() {
	local variable=$1 script tests=$3 path=$dir/tool/$1.path said=$dir/tool/$1.said
	read -ra script <<<"$2"
	if bash "dev/tools/${script[0]}.sh" "${script[@]:1}" $only 2>&1 >"$path" </dev/null | tee "$said" | { grep --line-buffered ': fetching ' >&2 || true; }; then
		printf 'export %s=%q\n' "$variable" "$(cat "$path")" >"$dir/tool/$variable.found"
	else
		printf '%s is missing: %s. Skipped: tests of %s.\n' "$2" "$(grep -v ': fetching \|: apt.s lists\| failed$' "$said" | sed 's/^dev.tools.[^ ]*: //; s/\(.\{200\}\).*/\1…/; q')" "$tests" |
			tee "$dir/tool/$variable.missing" >&2
	fi
}

main "$@"
