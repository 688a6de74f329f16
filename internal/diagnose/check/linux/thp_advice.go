package linux

import (
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// What can be done, least first.
var (
	deferCompaction = check.Fix{Text: "use a huge page only if one is free, and compact memory in the background; huge pages stay on",
		Setting: "transparent_hugepage/defrag=defer+madvise", Code: "echo defer+madvise >/sys/kernel/mm/transparent_hugepage/defrag"}
	deferAll = check.Fix{Text: "use a huge page only if one is free, also for memory that requests them (this process does), and compact memory in the background",
		Setting: "transparent_hugepage/defrag=defer", Code: "echo defer >/sys/kernel/mm/transparent_hugepage/defrag"}
	offForIt = check.Fix{Text: "switch transparent huge pages off for this process alone: start it with unstall run (or call prctl PR_SET_THP_DISABLE in the program)",
		Setting: "unstall run --thp=off", Code: "unstall run --thp=off -- COMMAND"}
	onlyAdvised = check.Fix{Text: "use huge pages only for memory that requests them", Setting: "transparent_hugepage/enabled=madvise",
		Code: "echo madvise >/sys/kernel/mm/transparent_hugepage/enabled"}
	tryIt = check.Fix{Text: "to try it first, for two minutes, restored afterwards", Code: "sudo unstall try thp=never --host --target PID"}
)

// listFixes returns the fixes in order: how much of the pages is used decides whether they are to
// stay on.
func (t *thp) listFixes(c *check.Case) (out []check.Fix) {
	compaction := deferCompaction
	if t.Defrag == "madvise" || t.Defrag == "defer+madvise" || t.Enabled == "madvise" {
		compaction = deferAll // else it was not compacted for: the process asks for huge pages
	}
	switch {
	case t.isDense():
		out = append(out, compaction)
	case t.sparseShare() > 0 && t.compactionShare() < worthTHP.Value:
		out = append(out, offForIt)
	case t.Touched.Known():
		out = append(out, offForIt, compaction)
	default:
		out = append(out, compaction, offForIt)
	}
	if t.Enabled == "always" && !t.isDense() {
		out = append(out, onlyAdvised)
	}
	if text := t.programAdvice(c); text != "" {
		out = append(out, check.Fix{Text: text})
	}
	if t.Enabled != "never" {
		out = append(out, tryIt)
	}
	return out
}

// programAdvice returns what the makers of the program advise, or what a version of it changed.
func (t *thp) programAdvice(c *check.Case) string {
	s := c.Bundle.Subjects[c.Subject]
	if wants := platform.ByID(s.Runtime).HugePages; wants != nil {
		major, minor := parseKernelRelease(t.Kernel)
		return wants(platform.HugePages{Version: s.Version, Kernel: t.Kernel, Splits: major > 5 || major == 5 && minor >= 8, Asks: t.asksForHugePages(c)})
	}
	switch {
	case s.Name == "mongod":
		return "MongoDB 8.0 and later is made for huge pages: leave enabled=always there and set defrag=defer+madvise; before 8.0 its documentation advises turning them off"
	case strings.HasPrefix(s.Name, "ora_") || s.Name == "oracle":
		return "Oracle wants enabled=madvise, and pages of hugetlbfs for its SGA"
	}
	return ""
}

// asksForHugePages says whether the process's flags make it ask for huge pages.
func (t *thp) asksForHugePages(c *check.Case) bool {
	f, _ := c.Fact(evidence.FactUseTHP)
	return f.Value == "true" || f.Number == 1
}

// parseKernelRelease parses "6.18.44-generic"; 0, 0 if unknown.
func parseKernelRelease(text string) (major, minor int) {
	parts := strings.SplitN(text, ".", 3)
	if len(parts) < 2 {
		return 0, 0
	}
	major, err := strconv.Atoi(parts[0])
	if err != nil {
		return 0, 0
	}
	minor, _ = strconv.Atoi(strings.TrimRightFunc(parts[1], func(r rune) bool { return r < '0' || r > '9' }))
	return major, minor
}
