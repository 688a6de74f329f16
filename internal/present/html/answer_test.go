package html

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/diagnose"
)

// A headline is one sentence; what else there is to say is set smaller.
func TestFirstSentence(t *testing.T) {
	for text, want := range map[string]string{
		"16 of 655 requests (2.4 %) took over 1 ms; none explains it. Not counted: streams. Most of it: own work 94 %.": "16 of 655 requests (2.4 %) took over 1 ms; none explains it.",
		"No request took longer than 300 ms. 3 causes ruled out by the figures below.":                                  "No request took longer than 300 ms.",
		"Healthy: p99.9 8.72 ms of 14,514 requests, and no cause stands out.":                                           "Healthy: p99.9 8.72 ms of 14,514 requests, and no cause stands out.",
	} {
		first, rest := firstSentence(text)
		if first != want || strings.TrimSpace(first+" "+rest) != text {
			t.Errorf("%q is split into %q and %q", text, first, rest)
		}
	}
}

// What is in brackets at the end of a long first sentence is set smaller, too.
func TestLongBrackets(t *testing.T) {
	figures := "functions with most samples of their own: " + strings.Repeat("HashMap.get (own 63.75 %, with what it calls 63.75 %), ", 4) + "write (kernel)"
	first, rest := firstSentence("The evidence gives figures, none of which decides a cause alone (" + figures + "). No known cause applies.")
	if want := "F" + figures[1:] + ". No known cause applies."; first != "The evidence gives figures, none of which decides a cause alone." || rest != want {
		t.Errorf("%q and %q", first, rest)
	}
}

// The headline of a comparison is the verdict with its figures; what it allows for and what else is decided stand below it.
func TestSplitAnswer(t *testing.T) {
	for text, want := range map[string]string{
		"Better: p99 19.3 → 1.49 ms, −92 % (−95.7 to −78); one run each, so a difference between runs of up to 20 % was allowed for. Of 18 metrics 6 improved, none regressed.": "Better: p99 19.3 → 1.49 ms, −92 % (−95.7 to −78).|One run each, so a difference between runs of up to 20 % was allowed for. Of 18 metrics 6 improved, none regressed.",
		"Changed: process CPU 0.113 → 0.035 CPUs, −69 % (−74 to −62). Of 10 metrics 3 changed.":                                                                                 "Changed: process CPU 0.113 → 0.035 CPUs, −69 % (−74 to −62).|Of 10 metrics 3 changed.",
		"Not comparable: the loads differ.": "Not comparable: the loads differ.|",
	} {
		if first, rest := splitAnswer(text); first+"|"+rest != want {
			t.Errorf("%q and %q", first, rest)
		}
	}
}

// A headline breaks inside a name only where the name may not fit a phone's line.
func TestHeadlineBreaks(t *testing.T) {
	if got := string(renderHeadline(1, "Most of it is in main.timetable.", "")); strings.Contains(got, "<wbr>") {
		t.Errorf("a short name breaks: %s", got)
	}
	if got := string(renderHeadline(1, "Most of it is in com.example.shop.catalogue.Shop.text.", "")); !strings.Contains(got, "shop.<wbr>catalogue") {
		t.Errorf("a long name does not break: %s", got)
	}
}

// What follows a headline is set smaller where it is long.
func TestLongCost(t *testing.T) {
	for cost, small := range map[string]bool{"Accounts for 36 % of the slow time.": false, strings.Repeat("22 causes ruled out by the figures below. ", 6): true} {
		if got := string(renderHeadline(1, "Healthy.", cost)); strings.Contains(got, `class="cost small"`) != small {
			t.Errorf("%d characters: %s", len(cost), got)
		}
	}
}

// A file is named without its folder where that names one file.
func TestWithoutFolder(t *testing.T) {
	sources := []diagnose.Source{{Name: "day/access.log"}, {Name: "a/gc.log"}, {Name: "b/gc.log"}}
	for origin, want := range map[string]string{"day/access.log:12": "access.log:12", "a/gc.log:3": "a/gc.log:3", "procfs.txt:2": "procfs.txt:2"} {
		if got := withoutFolder(sources, origin); got != want {
			t.Errorf("%q is %q, want %q", origin, got, want)
		}
	}
}

// A table of pauses that repeats the figures of the one before is left out.
func TestSaysTheSame(t *testing.T) {
	row := pausesRow{Name: "generation 2, induced", Count: "22", Total: "2.42 s", Share: "100 %", Mean: "110 ms", Worst: "169 ms"}
	kind, other := row, row
	kind.Name = "gen 2"
	other.Count = "44"
	if !saysTheSame(&pausesView{Rows: []pausesRow{row}}, &pausesView{Rows: []pausesRow{kind}}) || saysTheSame(&pausesView{Rows: []pausesRow{row}}, &pausesView{Rows: []pausesRow{other}}) ||
		saysTheSame(&pausesView{Rows: []pausesRow{row, kind}}, &pausesView{Rows: []pausesRow{row, kind}}) {
		t.Error("tables that differ are one, or tables that do not are two")
	}
}
