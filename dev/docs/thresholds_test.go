package docs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
	causes "github.com/unstall/unstall/internal/diagnose/check/all"
	"github.com/unstall/unstall/internal/present/sentence"
)

// sourceKinds are the kinds of sources, by how a source begins; the first that fits. What fits none is a document, or a constant in the
// source code of a runtime, a server or the kernel.
var sourceKinds = []struct {
	title  string
	begins []string
}{
	{"judgement", []string{check.Judgement}},
	{"measurement", []string{"measured"}},
	{"statistics: error of a sample, chance", []string{"binomial", "Poisson", "permutation", "normal distribution"}},
	{"queues: M/M/1, Little's law, PASTA", []string{"M/M/1", "Little's law", "PASTA"}},
	{"arithmetic", []string{"arithmetic"}},
	{"document or source code", []string{""}},
}

func kindOfSource(t check.Threshold) int {
	return slices.IndexFunc(sourceKinds, func(k struct {
		title  string
		begins []string
	}) bool {
		return slices.ContainsFunc(k.begins, func(b string) bool { return strings.HasPrefix(t.Source, b) })
	})
}

// allThresholds are the thresholds in the order of causes, each once.
func allThresholds() (out []check.Threshold) {
	for _, c := range causes.Causes {
		for _, x := range c.Thresholds {
			if !slices.Contains(out, x) {
				out = append(out, x)
			}
		}
	}
	return out
}

// sourceTable counts thresholds by the kind of their source and by what recordings say of them.
func sourceTable() string {
	m := causes.ReadMargins()
	t := newTable("source", "thresholds", "compared", "with recordings of the cause", "never compared", "in a computation", "not measured yet")
	const columns = 6
	var all [columns]int
	rows := make([][columns]int, len(sourceKinds))
	for _, x := range allThresholds() {
		n := &rows[kindOfSource(x)]
		count := func(i int) { n[i]++; all[i]++ }
		count(0)
		measured, right := false, false
		for _, c := range append(causes.Users(x), "") {
			if of, ok := m.Of(c, x); ok {
				measured, right = true, right || of.With.Count > 0
			}
		}
		switch {
		case measured:
			if count(1); right {
				count(2)
			}
		case slices.Contains(m.Computed, x.Name):
			count(4)
		case !m.Measured(x.Name):
			count(5)
		default:
			count(3)
		}
	}
	row := func(title string, n [columns]int) {
		cells := []string{title}
		for _, v := range n {
			cells = append(cells, units.Count(v))
		}
		t.row(cells...)
	}
	for i, k := range sourceKinds {
		row(k.title, rows[i])
	}
	row("all", all)
	return fmt.Sprintf("Measured on %s: %s, %d of them sick with a known cause.\n\n%s", m.Date, units.Plural(m.Recordings, "recording"), m.Sick, t.String())
}

// thresholdTables lists the thresholds that many causes share, and then those of each cause.
func thresholdTables() string {
	var b strings.Builder
	group := func(title string, all []check.Threshold, cause func(check.Threshold) string) {
		if len(all) == 0 {
			return
		}
		t := newTable("what is compared", "value", "why", "source", "recordings")
		for _, x := range all {
			t.row(x.Name, x.String(), x.Why, x.Source, ofRecordings(cause(x), x))
		}
		fmt.Fprintf(&b, "### %s\n\n%s\n", title, t.String())
	}
	var shared []check.Threshold
	for _, x := range allThresholds() {
		if len(causes.Users(x)) > causes.Shared {
			shared = append(shared, x)
		}
	}
	slices.SortStableFunc(shared, func(x, y check.Threshold) int { return len(causes.Users(y)) - len(causes.Users(x)) })
	group("Shared by several causes", shared, func(check.Threshold) string { return "" })
	for _, c := range causes.Causes {
		own := slices.DeleteFunc(slices.Clone(c.Thresholds), func(x check.Threshold) bool {
			return slices.Contains(shared, x) && sentence.Margin(c.ID, x) == ""
		})
		group(c.ID, own, func(check.Threshold) string { return c.ID })
	}
	return b.String()
}

// ofRecordings says where recordings lie, or why nothing is said.
func ofRecordings(cause string, x check.Threshold) string {
	m := causes.ReadMargins()
	switch text := sentence.Margin(cause, x); {
	case text != "":
		return text
	case slices.Contains(m.Computed, x.Name):
		return "in a computation: no figure is compared with it alone"
	case !m.Measured(x.Name):
		return "not measured yet"
	}
	return fmt.Sprintf("never compared in %s", units.Plural(m.Recordings, "recording"))
}

// TestMarginsAreOfThresholds holds that what was measured is of thresholds that there are, and that a name stands for one threshold of a
// cause.
func TestMarginsAreOfThresholds(t *testing.T) {
	m := causes.ReadMargins()
	if m.Recordings == 0 || m.Date == "" {
		t.Fatal("margins.json.gz says of no recording")
	}
	have := make(map[string]bool)
	for _, c := range causes.Causes {
		for _, x := range c.Thresholds {
			have[c.ID+" "+x.Name] = true
			if len(causes.Users(x)) > causes.Shared {
				have[" "+x.Name] = true
			}
		}
	}
	for _, x := range m.Margins {
		if !have[x.Cause+" "+x.Name] {
			t.Errorf("margins.json.gz has %q of %q, which is no threshold: go run ./dev/thresholds", x.Name, x.Cause)
		}
		for _, s := range []causes.Spread{x.With, x.Without} {
			if s.Reached > s.Count || (s.Count > 0) != (s.Least != nil) || s.Count > 0 && *s.Least > *s.Most {
				t.Errorf("%s: %q: %+v", x.Cause, x.Name, s)
			}
		}
	}
}

// TestSourcesAreOfAKind checks the kinds.
func TestSourcesAreOfAKind(t *testing.T) {
	for source, want := range map[string]string{"judgement: x": "judgement", "arithmetic: half": "arithmetic", "PASTA (R. Wolff)": "queues: M/M/1, Little's law, PASTA",
		"RFC 6298": "document or source code", "measured: 1.7 µs": "measurement", "Poisson error: 1/√5": "statistics: error of a sample, chance"} {
		if got := sourceKinds[kindOfSource(check.Threshold{Source: source})].title; got != want {
			t.Errorf("%q is %s, want %s", source, got, want)
		}
	}
}
