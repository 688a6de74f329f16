// Package markdown renders a diagnosis for a ticket, a pull request or a
// postmortem, in GitHub's dialect (https://github.github.com/gfm/): the answer
// as headline, the ledger and the predictions as tables.
package markdown

import (
	"fmt"
	"io"
	"regexp"
	"strings"
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
	p.headline(d, supported, open, ruledOut)
	p.about(d)
	if d.Dashboard != "" {
		p.linef("\n[The same time in Grafana](%s)", d.Dashboard)
	}
	p.routes(d)
	p.where(d)
	p.threads(d)
	for i := range supported {
		p.cause(&supported[i])
	}
	p.ruledOut(ruledOut)
	p.notSeen(open, d.NotSeen)
	p.warnings(d.Warnings)
	p.sources(d)
	_, err := io.WriteString(w, strings.TrimRight(p.String(), "\n")+"\n")
	return err
}

type page struct{ strings.Builder }

func (p *page) linef(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) section(title string) { p.linef("\n### %s\n", title) }

func (p *page) headline(d *diagnose.Diagnosis, supported, open, ruledOut []diagnose.Verdict) {
	switch {
	case len(supported) > 0:
		p.linef("## %s\n\n%s\n", sentence.Capital(sentence.State(d)), escape(sentence.Answer(d, &supported[0])))
		savings := 0
		for _, v := range supported {
			line := "- **" + code(v.Cause) + "** " + escape(v.Title)
			if v.Subject != "" && sentence.Several(d) {
				line += " (" + escape(v.Subject) + ")"
			}
			if cost := sentence.Cost(d, &v); cost != "" {
				savings++
				line += "  \n  **" + escape(cost) + "**"
			} else if v.Summary != "" {
				line += "  \n  " + escape(v.Summary)
			}
			p.linef("%s", line)
		}
		if savings > 1 {
			p.linef("\nCauses overlap, so their shares do not add up.")
		}
	default:
		label := sentence.State(d)
		p.linef("## %s\n\n%s", sentence.Capital(label), escape(sentence.Nothing(d, open, ruledOut)))
	}
}

func (p *page) about(d *diagnose.Diagnosis) {
	p.linef("\n| | |\n|---|---|")
	for _, t := range d.Targets {
		name, about := sentence.Target(t)
		p.row("Target", strings.Join(append([]string{name}, about...), " · "))
	}
	if when := sentence.Window(d.Window); when != "" {
		p.row("Window", when)
	}
	if r := d.Requests; r != nil {
		p.row("Requests", strings.Join(sentence.Requests(r), " · "))
		if joined := sentence.Joined(r); len(joined) > 0 {
			p.row("Joined", strings.Join(joined, " · "))
		}
		p.row("Slow", strings.Join(sentence.Slow(r), " · "))
		if since := sentence.Since(d); since != "" {
			p.row("Since", since)
		}
	} else {
		p.row("Requests", "no request data: causes are ranked by how long they stopped the service")
	}
	for _, s := range sentence.Stretches(d) {
		p.row("Worst", s)
	}
	for _, l := range sentence.Loads(d) {
		p.row("Load", strings.Join(sentence.Load(d, l), " · "))
	}
}

func (p *page) row(cells ...string) {
	for i := range cells {
		cells[i] = escape(cells[i])
	}
	p.linef("| %s |", strings.Join(cells, " | "))
}

func (p *page) routes(d *diagnose.Diagnosis) {
	if len(d.Routes) < 2 {
		return
	}
	p.section("Routes")
	rows := sentence.Routes(d, len(d.Routes))
	p.linef("| %s |\n|---%s|", strings.Join(rows[0], " | "), strings.Repeat("|---:", len(rows[0])-1))
	for _, row := range rows[1:] {
		p.row(row...)
	}
	if d.RoutesLeft > 0 {
		p.linef("\nand %s more", units.Count(d.RoutesLeft))
	}
}

func (p *page) where(d *diagnose.Diagnosis) {
	rows, total := sentence.Ledger(d)
	if len(rows) == 0 {
		return
	}
	p.section("Where " + units.Ms(total) + " of slow requests went")
	p.linef("| mechanism | time | share | method |\n|---|---:|---:|---|")
	for _, r := range rows {
		if r.Ms == 0 {
			p.row(r.Title, r.Nothing(), "", r.Note)
			continue
		}
		p.row(r.Title, units.Ms(r.Ms), units.Percent(r.Ms/total), r.Note)
	}
	if note := sentence.Reconciled(d); note != "" {
		p.linef("\n%s", escape(note))
	}
}

func (p *page) cause(v *diagnose.Verdict) {
	p.section(code(v.Cause))
	for _, e := range v.Evidence {
		line := "- " + escape(e.Text)
		if f := sentence.Figure(&e); f != "" {
			line += ": **" + escape(f) + "**"
		}
		if e.Origin != "" {
			line += " (" + code(e.Origin) + ")"
		}
		p.linef("%s", line)
	}
	for i, f := range v.Fix {
		label := "Fix"
		if i > 0 {
			label = "Or"
		}
		line := "\n**" + label + ":**"
		if f.Setting != "" {
			line += " " + code(f.Setting)
			if f.Text != "" {
				line += " —"
			}
		}
		if f.Text != "" {
			line += " " + escape(f.Text)
		}
		p.linef("%s", line)
		if f.Code != "" {
			fence := strings.Repeat("`", max(3, longestRun(f.Code)+1))
			p.linef("\n%s\n%s\n%s", fence, strings.TrimRight(f.Code, "\n"), fence)
		}
	}
	if len(v.Prediction) == 0 {
		return
	}
	p.linef("\n| metric | now | then | range |\n|---|---:|---:|---:|")
	for _, x := range v.Prediction {
		r := ""
		if x.Low != nil && x.High != nil {
			r = units.Of(*x.Low, x.Unit) + " – " + units.Of(*x.High, x.Unit)
		}
		p.row(x.Metric, of(x.Now, x.Unit), of(x.Then, x.Unit), r)
	}
}

func of(v *float64, unit string) string {
	if v == nil {
		return units.Unknown
	}
	return units.Of(*v, unit)
}

func (p *page) ruledOut(verdicts []diagnose.Verdict) {
	if len(verdicts) == 0 {
		return
	}
	p.section("Ruled out")
	for _, v := range verdicts {
		line := "- " + code(v.Cause)
		if v.Summary != "" {
			line += ": " + escape(v.Summary)
		}
		p.linef("%s", line)
	}
}

func (p *page) notSeen(verdicts []diagnose.Verdict, unseen []diagnose.NotSeen) {
	if len(verdicts)+len(unseen) == 0 {
		return
	}
	p.section("Not seen")
	for _, u := range unseen {
		line := "- " + escape(sentence.Unseen(u))
		if u.Do != "" {
			line += ": " + code(u.Do)
		}
		p.linef("%s", line)
	}
	for _, g := range sentence.NotSeen(verdicts) {
		var ids []string
		for _, c := range g.Causes {
			ids = append(ids, code(c))
		}
		line := "- " + strings.Join(ids, ", ")
		if g.Summary != "" {
			line += ": " + escape(g.Summary)
		}
		p.linef("%s", line)
		for _, n := range g.Needs {
			line := "  - " + escape(n.What)
			if n.Command != "" {
				line += ": " + code(n.Command)
			}
			p.linef("%s", line)
		}
	}
}

func (p *page) warnings(warnings []diagnose.Warning) {
	if len(warnings) == 0 {
		return
	}
	p.section("Warnings")
	for _, w := range warnings {
		line := "- "
		if w.Count > 1 {
			line += units.Count(w.Count) + " × "
		}
		line += escape(w.Text)
		if w.Origin != "" {
			line += " (" + code(w.Origin) + ")"
		}
		p.linef("%s", line)
	}
}

func (p *page) sources(d *diagnose.Diagnosis) {
	var read []string
	for _, s := range sentence.Sources(d.Sources) {
		read = append(read, code(s.Name)+" ("+escape(s.How)+")")
	}
	if len(read) > 0 {
		p.linef("\nFrom %s; unstall %s.", strings.Join(read, ", "), escape(d.ToolVersion))
	}
}

// escapes are the characters that mean something in running text and in tables.
var escapes = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "|", `\|`, "&", "&amp;", "<", "&lt;", "[", `\[`, "]", `\]`, "~", `\~`)

// emphasis is an underscore that may begin or end emphasis: one inside a word does
// neither (GFM 6.4), and is left as it is for readers of the source.
var emphasis = regexp.MustCompile(`(^|[^\pL\pN_])(_+)|(_+)([^\pL\pN_]|$)`)

// escape makes a text mean only itself, on one line.
func escape(s string) string {
	return emphasis.ReplaceAllStringFunc(escapes.Replace(oneLine(s)), func(m string) string { return strings.ReplaceAll(m, "_", `\_`) })
}

// cell sets a text as code inside a table, where | ends a cell even in code.
func cell(s string) string { return strings.ReplaceAll(code(s), "|", `\|`) }

// code sets a text as code.
func code(s string) string {
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

// longestRun is how many backquotes follow each other in s at most.
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
