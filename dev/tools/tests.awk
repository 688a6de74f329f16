# What go test -v ./... says, as go test ./... says it: the packages, and of those that
# failed what their failing tests said. Then which tests were skipped, and why, and last
# the names of those that failed.

function forget() {
	split("", result); split("", said); split("", why); split("", order)
	tests = 0; test = ""
}

function failed(package,   i) {
	if (package) bad[++bads] = package
	for (i = 1; i <= tests; i++)
		if (result[order[i]] !~ /PASS|SKIP/) {
			print "--- " (result[order[i]] ? result[order[i]] : "NOT ENDED") ": " order[i]
			printf "%s", said[order[i]]
			bad[bads] = bad[bads] " " order[i]
		}
}

/^=== (RUN|CONT|NAME|PAUSE) / {
	test = $3
	if ($2 == "RUN") order[++tests] = test
	next
}
/^ *--- (PASS|FAIL|SKIP): / {
	sub(":", "", $2)
	result[$3] = $2
	if ($2 == "SKIP") { skip[++skips] = $3; reason[skips] = why[$3] }
	next
}
/^(ok  |FAIL|\?   )\t/ {
	if ($1 == "FAIL") failed($2)
	for (; named < skips; named++) skip[named + 1] = $2 " " skip[named + 1]
	forget()
	print
	fflush()
	next
}
/^(PASS|FAIL)$/ { test = ""; next }
test == "" { print; next }
{
	said[test] = said[test] $0 "\n"
	if ($0 ~ /^ +[a-z0-9_]+\.go:[0-9]+: /) { why[test] = $0; sub(/^ +[a-z0-9_]+\.go:[0-9]+: /, "", why[test]) }
}

END {
	failed(tests ? "not ended:" : "")
	if (!skips) print "== no test was skipped"
	else print "== " skips " skipped"
	for (i = 1; i <= skips; i++) print skip[i] ": " reason[i]
	if (bads) print "== failed"
	for (i = 1; i <= bads; i++) print bad[i]
}
