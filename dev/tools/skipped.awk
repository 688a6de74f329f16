# How many tests there were, and which were skipped, by reason, the most frequent first. It reads what
# dev/tools/tests.awk writes of each test: its result, package, name, and why it was skipped.
BEGIN { FS = "\t" }
$1 == "SKIP" && $4 ~ /^(is )?run by/ { next } # no test: a process that another test starts
{ count[$1 == "PASS" || $1 == "SKIP" ? $1 : "FAIL"]++ }
$1 == "SKIP" {
	why = $4
	sub(/: (open|stat|lstat) .*/, "", why) # the path differs, the reason is one
	if (!why) why = "no reason"
	sub(/^github.com\/[^\/]*\/[^\/]*\//, "", $2)
	if (!skipped[why]++) order[++reasons] = why
	where[why] = where[why] "\n      " $2 " " $3
	if (skipped[why] == 4) more[why] = length(where[why])
}
END {
	printf "== %d tests passed, %d failed, %d were skipped\n", count["PASS"], count["FAIL"], count["SKIP"]
	while (shown < reasons) {
		most = 0
		for (i = 1; i <= reasons; i++) if (skipped[order[i]] > skipped[order[most]]) most = i
		why = order[most]
		text = where[why]
		if (skipped[why] > 4) text = substr(text, 1, more[why]) "\n      and " skipped[why] - 4 " more"
		printf "%5d %s%s\n", skipped[why], why, text
		skipped[why] = 0
		shown++
	}
}
