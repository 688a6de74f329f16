// Package markdown renders a diagnosis for a ticket, a pull request or a
// postmortem, in GitHub's dialect (https://github.github.com/gfm/): the answer
// as headline, the ledger and the predictions as tables.
package markdown

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/sentence"
)

// Report renders a diagnosis.
func Report(w io.Writer, d *diagnose.Diagnosis) error {
	p := new(page)
	supported, open, ruledOut := sentence.Split(d)
	supported = sentence.Once(supported)
	p.writeHeadline(d, supported, open, ruledOut)
	p.writeOverview(d)
	if d.Dashboard != "" {
		p.writeLinef("\n[The same time in Grafana](%s)", d.Dashboard)
	}
	p.writeRoutes(d)
	p.writeLedger(d)
	p.writeThreads(d)
	for i := range supported {
		p.writeCause(&supported[i])
	}
	p.ruledOut(ruledOut)
	p.notSeen(open, d.NotSeen)
	p.writeWarnings(d.Warnings)
	p.writeSources(d)
	_, err := io.WriteString(w, strings.TrimRight(p.String(), "\n")+"\n")
	return err
}

type page struct{ strings.Builder }

func (p *page) writeLinef(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) writeSection(title string) { p.writeLinef("\n### %s\n", title) }

func (p *page) writeHeadline(d *diagnose.Diagnosis, supported, open, ruledOut []diagnose.Verdict) {
	switch {
	case len(supported) > 0:
		p.writeLinef("## %s\n\n%s\n", sentence.Capital(sentence.State(d)), escapeText(sentence.Answer(d, &supported[0])))
		savings := 0
		for _, v := range supported {
			line := "- **" + formatCode(v.Cause) + "** " + escapeText(sentence.Title(d, &v))
			if v.Subject != "" && sentence.Several(d) {
				line += " (" + escapeText(v.Subject) + ")"
			}
			if cost := sentence.Cost(d, &v); cost != "" {
				savings++
				line += "  \n  **" + escapeText(cost) + "**"
			} else if v.Summary != "" {
				line += "  \n  " + escapeText(v.Summary)
			}
			p.writeLinef("%s", line)
		}
		if savings > 1 {
			p.writeLinef("\nCauses overlap, so their shares do not add up.")
		}
	default:
		label := sentence.State(d)
		p.writeLinef("## %s\n\n%s", sentence.Capital(label), escapeText(sentence.Nothing(d, open, ruledOut)))
	}
}

func (p *page) writeOverview(d *diagnose.Diagnosis) {
	p.writeLinef("\n| | |\n|---|---|")
	for _, t := range d.Targets {
		name, about := sentence.Target(t)
		p.writeRow("Target", strings.Join(append([]string{name}, about...), " · "))
	}
	if when := sentence.Window(d.Window); when != "" {
		p.writeRow("Window", when)
	}
	if r := d.Requests; r != nil {
		p.writeRow("Requests", strings.Join(sentence.Requests(r), " · "))
		if joined := sentence.Joined(r); len(joined) > 0 {
			p.writeRow("Joined", strings.Join(joined, " · "))
		}
		p.writeRow("Slow", strings.Join(sentence.Slow(r), " · "))
		if since := sentence.Since(d); since != "" {
			p.writeRow("Since", since)
		}
	} else {
		p.writeRow("Requests", "no request data: causes are ranked by how long they stopped the service")
	}
	for _, s := range sentence.Stretches(d) {
		p.writeRow("Worst", s)
	}
	for _, l := range sentence.Loads(d) {
		p.writeRow("Load", strings.Join(sentence.Load(d, l), " · "))
	}
}

func (p *page) writeRow(cells ...string) {
	for i := range cells {
		cells[i] = escapeText(cells[i])
	}
	p.writeLinef("| %s |", strings.Join(cells, " | "))
}

func (p *page) writeRoutes(d *diagnose.Diagnosis) {
	if len(d.Routes) < 2 {
		return
	}
	p.writeSection("Routes")
	rows := sentence.Routes(d, len(d.Routes))
	p.writeLinef("| %s |\n|---%s|", strings.Join(rows[0], " | "), strings.Repeat("|---:", len(rows[0])-1))
	for _, row := range rows[1:] {
		p.writeRow(row...)
	}
	if d.RoutesLeft > 0 {
		p.writeLinef("\nand %s more", units.Count(d.RoutesLeft))
	}
}

func (p *page) writeLedger(d *diagnose.Diagnosis) {
	rows, total := sentence.Ledger(d)
	if len(rows) == 0 {
		return
	}
	p.writeSection("Where " + sentence.Where(d, total))
	p.writeLinef("| mechanism | time | share | method |\n|---|---:|---:|---|")
	for _, r := range rows {
		if r.Ms == 0 {
			p.writeRow(r.Title, r.Nothing(), "", r.Note)
			continue
		}
		p.writeRow(r.Title, units.Ms(r.Ms), units.Percent(r.Ms/total), r.Note)
	}
	if note := sentence.Reconciled(d); note != "" {
		p.writeLinef("\n%s", escapeText(note))
	}
}

func (p *page) writeCause(v *diagnose.Verdict) {
	p.writeSection(formatCode(v.Cause))
	for _, e := range v.Evidence {
		line := "- " + escapeText(e.Text)
		if f := sentence.Figure(&e); f != "" {
			line += ": **" + escapeText(f) + "**"
		}
		if e.Origin != "" {
			line += " (" + formatCode(e.Origin) + ")"
		}
		p.writeLinef("%s", line)
	}
	for i, f := range v.Fix {
		label := "Fix"
		if i > 0 {
			label = "Or"
		}
		line := "\n**" + label + ":**"
		if f.Setting != "" {
			line += " " + formatCode(f.Setting)
			if f.Text != "" {
				line += " —"
			}
		}
		if f.Text != "" {
			line += " " + escapeText(f.Text)
		}
		p.writeLinef("%s", line)
		if f.Code != "" {
			fence := strings.Repeat("`", max(3, longestRun(f.Code)+1))
			p.writeLinef("\n%s\n%s\n%s", fence, strings.TrimRight(f.Code, "\n"), fence)
		}
	}
	predicted := slices.DeleteFunc(slices.Clone(v.Prediction), func(x diagnose.Prediction) bool { return !sentence.Noticed(&x) })
	if len(predicted) == 0 {
		return
	}
	p.writeLinef("\n| metric | now | then | range |\n|---|---:|---:|---:|")
	for _, x := range predicted {
		r := ""
		if x.Low != nil && x.High != nil {
			r = units.Of(*x.Low, x.Unit) + " – " + units.Of(*x.High, x.Unit)
		}
		p.writeRow(x.Metric, units.OfOptional(x.Now, x.Unit), units.OfOptional(x.Then, x.Unit), r)
	}
}

func (p *page) ruledOut(verdicts []diagnose.Verdict) {
	if len(verdicts) == 0 {
		return
	}
	p.writeSection("Ruled out")
	for _, v := range verdicts {
		line := "- " + formatCode(v.Cause)
		if v.Summary != "" {
			line += ": " + escapeText(v.Summary)
		}
		p.writeLinef("%s", line)
	}
}

func (p *page) notSeen(verdicts []diagnose.Verdict, unseen []diagnose.NotSeen) {
	if len(verdicts)+len(unseen) == 0 {
		return
	}
	p.writeSection("Not seen")
	for _, u := range unseen {
		line := "- " + escapeText(sentence.Unseen(u))
		if u.Do != "" {
			line += ": " + formatCode(u.Do)
		}
		p.writeLinef("%s", line)
	}
	for _, g := range sentence.NotSeen(verdicts) {
		var ids []string
		for _, c := range g.Causes {
			ids = append(ids, formatCode(c))
		}
		line := "- " + strings.Join(ids, ", ")
		if g.Summary != "" {
			line += ": " + escapeText(g.Summary)
		}
		p.writeLinef("%s", line)
		for _, n := range g.Needs {
			line := "  - " + escapeText(n.What)
			if n.Command != "" {
				line += ": " + formatCode(n.Command)
			}
			p.writeLinef("%s", line)
		}
	}
}

func (p *page) writeWarnings(warnings []diagnose.Warning) {
	if len(warnings) == 0 {
		return
	}
	p.writeSection("Warnings")
	for _, w := range warnings {
		line := "- "
		if w.Count > 1 {
			line += units.Count(w.Count) + " × "
		}
		line += escapeText(w.Text)
		if w.Origin != "" {
			line += " (" + formatCode(w.Origin) + ")"
		}
		p.writeLinef("%s", line)
	}
}

func (p *page) writeSources(d *diagnose.Diagnosis) {
	var read []string
	for _, s := range sentence.Sources(d.Sources) {
		read = append(read, formatCode(s.Name)+" ("+escapeText(s.How)+")")
	}
	if len(read) > 0 {
		p.writeLinef("\nFrom %s; unstall %s.", strings.Join(read, ", "), escapeText(d.ToolVersion))
	}
}

// escapes are the characters that mean something in running text and in tables.
var escapes = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "|", `\|`, "&", "&amp;", "<", "&lt;", "[", `\[`, "]", `\]`, "~", `\~`)

// emphasis is an underscore that may begin or end emphasis: one inside a word does
// neither (GFM 6.4), and is left as it is for readers of the source.
var emphasis = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[^\pL\pN_])(_+)|(_+)([^\pL\pN_]|$)`)
})

// escapeText escapes a text so that it has no markup, on one line.
func escapeText(s string) string {
	return emphasis().ReplaceAllStringFunc(escapes.Replace(oneLine(s)), func(m string) string { return strings.ReplaceAll(m, "_", `\_`) })
}

// formatCodeCell formats a text as code inside a table, where | ends a cell even in code.
func formatCodeCell(s string) string { return strings.ReplaceAll(formatCode(s), "|", `\|`) }

// formatCode formats a text as code.
func formatCode(s string) string {
	s = oneLine(s)
	fence := strings.Repeat("`", longestRun(s)+1)
	if len(fence) > 1 {
		s = " " + s + " "
	}
	return fence + s + fence
}

func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// longestRun returns the length of the longest run of backquotes in s.
func longestRun(s string) (longest int) {
	run := 0
	for _, r := range s {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
