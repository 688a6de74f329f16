# What go test -v ./... says, as go test ./... says it: the packages, and of those that
# failed what their failing tests said, and last the names of those that failed. Into the
# file `results` goes of every test a line: its result, package, name, and why it was skipped.

function forget() {
	split("", result); split("", said); split("", why); split("", order)
	tests = 0; test = ""
}

function record(package,   i) {
	for (i = 1; i <= tests; i++) print result[order[i]] "\t" package "\t" order[i] "\t" why[order[i]] >results
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
	next
}
/^(ok  |FAIL|\?   )\t/ {
	if ($1 == "FAIL") failed($2)
	record($2)
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
	if (bads) print "== failed"
	for (i = 1; i <= bads; i++) print bad[i]
}
