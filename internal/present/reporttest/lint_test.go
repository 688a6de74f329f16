package reporttest

import "testing"

// TestText checks that bad text is found and good text is not.
func TestText(t *testing.T) {
	for _, s := range []string{
		"1 requests were slow", "stopped 1 times", "p50 4.36 · p99 10.1 s", "p99 12", "≤ 28.3 s/s", "took 1234.5 ms", "14.22 s of it", "a heap of 2,NaN MiB", "%!d(string=x)",
		"paused for 85623 s", "29 requests were slow, for none of the causes judged", "between (4.48–4.48)", "strconv.ParseInt: parsing", "accounts for  %", "took () longer",
		"requests use only -9 % of the CPUs", "value +Inf",
		"it runs 8.3, on average", "waits of 12.5, most of them", "a load of 1.5.",
	} {
		if len(Text(s)) == 0 {
			t.Errorf("%q was let through", s)
		}
	}
	for _, s := range []string{
		"1 request was slow", "1 ms", "1 process", "gen 1 collections", "p50 4.36 s · p99 10.1 s", "28.3 requests", "14.2 s", "24,013 requests", "go1.26.8", "127.0.0.7", "14:02:10.252", "(2.3–3.4)",
		"Java 17.0.15", "func() of main.run()", "21 requests", "0.001 CPUs", "1.05 s", "0.0101 s", "of 5 %", "1,234 s", "needs Go ≥ 1.19, and a restart", "since .NET 4.7 on Windows",
	} {
		if w := Text(s); len(w) > 0 {
			t.Errorf("%q was not let through: %v", s, w)
		}
	}
	for text, want := range map[string]int{"WHY\n\nRULED OUT  x\n": 1, "a\n\n\nb\n": 1, "WHY  1 s  x\n": 0, "ROUTES\n  x\n": 0} {
		if got := Terminal(text); len(got) != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	for text, want := range map[string]int{"# x\n\ntext\n\n## a\n\n## b\n\ntext\n": 1, "# x\n\n## a\n\ntext\n": 0, "## a\n": 1, "## a\n```\n# no heading\n```\n": 0} {
		if got := Markdown(text); len(got) != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	for page, want := range map[string]int{
		"<section><h2>Routes</h2></section>": 1, "<section><h2>Routes</h2><p>none</p></section>": 0, "<p>took <b>4.2</b> s<script>1 times</script></p>": 0,
		"<td>p99 12</td><td>s</td>": 0, "<code>main.<wbr>run<i>()</i></code>": 0, "stopped <b>1</b> times": 1,
	} {
		if got := HTML(page); len(got) != want {
			t.Errorf("%q: %v", page, got)
		}
	}
}
