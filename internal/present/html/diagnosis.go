package html

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/sorting"
	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check/all"
	"github.com/unstall/unstall/internal/diagnose/timeline"
	"github.com/unstall/unstall/internal/present/sentence"
)

// diagnosisView is a diagnosis in the words of the reports.
type diagnosisView struct {
	N     int
	Title string // "": it heads the page
	// Levels of headings: Top of the answer, Below of what is beside it, H of sections, Sub
	// inside them.
	Top, Below, H, Sub int
	// Contents are what can be jumped to, below the answer.
	Contents []Link

	Targets []targetView
	Window  string
	Sources []sentence.Source
	From    []string // their names at the head of the page

	Tone    string // "found", "calm", "plain"
	First   *causeView
	Slowed  string // how much is slow, and how much of it the first cause makes
	Also    []*causeView
	Overlap bool
	State   string // the outcome in a word or two
	Nothing string
	// Rest is what else there is to say of that.
	Rest   string
	Change *changeView

	Requests, Slow          []string
	Since                   string
	Worst                   []string // what the worst stretches show by themselves
	NoRequests, AddRequests string
	Dashboard               string // a link, "" none
	Loads                   [][]string

	Routes     []routeView
	RouteHead  []string
	RoutesOf   string // which requests they are of
	RoutesLeft string

	Where     *whereView
	Through   *throughView
	Stacks    []stacksView
	Collected *collectedView
	Views     []pictureView
	Absent    []pictureView // pictures that cannot be drawn but would add to this diagnosis
	Causes    []*causeView
	RuledOut  []diagnose.Verdict
	Unseen    []unseenView
	Open      []sentence.Open
	Warnings  []warningView
	Coverage  []coverageView
	Several   bool
	Lossy     bool // a source lost something
}

// routeView is a row of the table of routes.
type routeView struct {
	Route   string
	Chosen  bool // it can be chosen: the pictures are of its service
	Columns []string
}

type targetView struct {
	Name  string
	About []string
}

// causeView is a supported cause.
type causeView struct {
	ID          string // in the page
	H, Sub      int
	Cause       string
	How         []string // the mechanism, in paragraphs
	Least       string   // the least evidence that supports it
	Decided     *decidedView
	Subject     string // "" goes without saying
	Sentence    string
	Cost        string
	Evidence    []evidenceView
	Fix         []diagnose.Fix
	Predictions []predictionView
	Frontier    *frontierView
}

// hasFixAndEffect says whether the fixes of a cause and their effects stand side by side.
func hasFixAndEffect(c *causeView) bool {
	return len(c.Fix) > 0 && (len(c.Predictions) > 0 || c.Frontier != nil)
}

type evidenceView struct{ Figure, Text, Origin string }

// hasRange says whether a prediction has a range.
func hasRange(all []predictionView) bool {
	return slices.ContainsFunc(all, func(p predictionView) bool { return p.Range != "" })
}

type predictionView struct{ Metric, Now, Then, Range, Change string }

// changeView is what to change, in brief.
type changeView struct {
	ID            string
	How           bool // its mechanism is explained
	Setting, Text string
	Code          string // where in the program
	Predicted     []predictionView
}

type unseenView struct{ Text, Do string }

type warningView struct{ Count, Text, Origin string }

type coverageView struct{ Kind, Subject, When, Lost string }

func (p Diagnosed) addTo(doc *document) error {
	d := p.Diagnosis
	v := &diagnosisView{N: doc.diagnoses, Title: p.Title, Top: 1, Below: 2, H: 2, Sub: 3,
		NoRequests: sentence.NoRequests(d), AddRequests: sentence.AddRequests(d), Dashboard: d.Dashboard}
	doc.diagnoses++
	if p.Title != "" {
		v.Top, v.Below, v.H, v.Sub = 3, 4, 3, 4
	} else {
		doc.Head = v
	}
	t := d.Timeline()
	if err := doc.addTimeline(v.N, t); err != nil {
		return err
	}
	v.addOverview(d, t)
	v.addAnswer(d)
	v.Where = newWhereView(d, v.N, v.H)
	v.Through = newThroughView(d, v.N, v.H)
	v.Stacks = newStacksViews(d, v.N, v.H, v.Sub)
	v.Collected = newCollectedView(d, t, v.N, v.H, v.Sub)
	v.Views, v.Absent = splitPresent(d, listPictures(t, v.N, v.H))
	v.addLimits(d)
	if p.Title == "" {
		v.addContents(doc.Machine != "", p.After)
	}
	doc.Parts = append(doc.Parts, partView{Diagnosis: v})
	return nil
}

// hasSelectableRoute says whether one of the routes can be selected.
func hasSelectableRoute(v *diagnosisView) bool {
	return slices.ContainsFunc(v.Routes, func(r routeView) bool { return r.Chosen })
}

// diagnosisTitle returns the title of a diagnosis: what it is about, and what was found.
func diagnosisTitle(d *diagnose.Diagnosis) string {
	label, _ := shortAnswer(d)
	if len(d.Targets) > 0 {
		name, _ := sentence.Target(d.Targets[0])
		return name + ": " + label
	}
	return label
}

func (v *diagnosisView) addOverview(d *diagnose.Diagnosis, t *timeline.Timeline) {
	for _, x := range d.Targets {
		name, about := sentence.Target(x)
		v.Targets = append(v.Targets, targetView{name, about})
	}
	v.Window = sentence.Window(d.Window)
	v.Sources = sentence.Sources(d.Sources)
	for _, s := range v.Sources {
		v.From = append(v.From, withoutFolder(d.Sources, s.Name))
	}
	v.Several = sentence.Several(d)
	v.Worst = sentence.Stretches(d)
	if r := d.Requests; r != nil {
		v.Requests, v.Slow, v.Since = sentence.Requests(r), sentence.Slow(r), sentence.Since(d)
		v.Requests = append(v.Requests, sentence.Joined(r)...)
		if len(d.Routes) == 1 && d.Routes[0].Route != "" {
			v.Requests = append(v.Requests, "all of "+d.Routes[0].Route)
		}
	}
	if len(d.Routes) > 1 {
		rows := sentence.Routes(d, min(len(d.Routes), mostRoutes))
		v.RouteHead = rows[0]
		for i, row := range rows[1:] {
			v.Routes = append(v.Routes, routeView{d.Routes[i].Route, t != nil && (!v.Several || d.Routes[i].Subject == t.Subject), row})
		}
		if r := d.Requests; r != nil {
			v.RoutesOf = "All " + units.Plural(r.Count, "request") + " in " + sentence.Files(r) + "."
		}
		if left := len(d.Routes) + d.RoutesLeft - len(v.Routes); left > 0 {
			v.RoutesLeft = units.Count(left)
		}
	}
	for _, l := range sentence.Loads(d) {
		v.Loads = append(v.Loads, sentence.Load(d, l))
	}
}

// addAnswer adds which causes hold, what they cost and what to change.
func (v *diagnosisView) addAnswer(d *diagnose.Diagnosis) {
	supported, open, ruledOut := sentence.Split(d)
	supported = sentence.Once(supported)
	v.State = sentence.State(d)
	costs := 0
	for i := range supported {
		c := v.newCauseView(d, &supported[i], i)
		if supported[i].Saves != nil {
			costs++
		}
		v.Causes = append(v.Causes, c)
	}
	v.RuledOut, v.Open = figuresFirst(ruledOut), sentence.NotSeen(open)
	v.Overlap = costs > 1
	if len(v.Causes) > 0 {
		v.Tone, v.First, v.Also = "found", v.Causes[0], v.Causes[1:]
		if share, _ := sentence.Share(d, &supported[0]); share != "" {
			v.Slowed = sentence.SlowPart(d.Requests) + " " + v.First.Cost
		} else {
			v.Slowed = v.First.Cost
		}
		v.Change = newChangeView(v.First)
		return
	}
	v.Nothing, v.Rest = firstSentence(sentence.Nothing(d, open, ruledOut))
	v.Tone = "calm plain"
	if !sentence.Healthy(d) {
		v.Tone = "plain"
	}
}

// firstSentence splits a text after its first sentence: a headline of several is not read.
func firstSentence(text string) (first, rest string) {
	first = text
	if at := sentenceEnd().FindStringIndex(text); at != nil {
		first, rest = text[:at[0]+1], strings.TrimSpace(text[at[0]+1:])
	}
	if said, figures, found := strings.Cut(strings.TrimSuffix(first, ")."), " ("); found && strings.HasSuffix(first, ").") && utf8.RuneCountInString(first) > 2*longHeadline && isBalanced(figures) {
		return said + ".", strings.TrimSpace(sentence.Capital(figures) + ". " + rest)
	}
	return first, rest
}

// isBalanced says whether each bracket of a text closes one that it opens.
func isBalanced(text string) bool {
	open := 0
	for _, r := range text {
		switch {
		case r == '(':
			open++
		case r == ')':
			open--
		}
		if open < 0 {
			return false
		}
	}
	return open == 0
}

// sentenceEnd matches the end of a sentence and the beginning of the next.
var sentenceEnd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\. [\p{Lu}\pN]`) })

func (v *diagnosisView) newCauseView(d *diagnose.Diagnosis, x *diagnose.Verdict, i int) *causeView {
	c := &causeView{ID: fmt.Sprintf("cause-%d-%d", v.N, i+1), H: v.H, Sub: v.Sub, Cause: x.Cause, Sentence: sentence.Title(d, x), Cost: sentence.Cost(d, x), Fix: slices.Clone(x.Fix)}
	for k := range c.Fix { // the list has its own "or"
		c.Fix[k].Text = strings.TrimPrefix(strings.TrimPrefix(c.Fix[k].Text, "or, "), "or ")
	}
	c.How, c.Least = explainCause(x.Cause)
	c.Decided = newDecidedView(*x)
	if x.Subject != "" && v.Several {
		c.Subject = x.Subject
	}
	if c.Cost == "" && x.Summary != "" && !sentence.Said(x.Title, x.Summary) {
		c.Cost = strings.TrimSuffix(sentence.Capital(x.Summary), ".") + "."
	}
	for _, e := range x.Evidence {
		c.Evidence = append(c.Evidence, evidenceView{sentence.Figure(&e), e.Text, withoutFolder(d.Sources, e.Origin)})
	}
	for _, p := range x.Prediction {
		if !sentence.Noticed(&p) {
			continue
		}
		c.Predictions = append(c.Predictions, newPredictionView(p))
	}
	if f := newFrontierView(x.Frontier); f != nil && f.SVG != "" {
		c.Frontier = f
	}
	return c
}

// withoutFolder returns an origin without the folder of its file, unless another file has the same name.
func withoutFolder(sources []diagnose.Source, origin string) string {
	i := strings.LastIndexByte(origin, '/')
	if i < 0 {
		return origin
	}
	base, _, _ := strings.Cut(origin[i+1:], ":")
	same := 0
	for _, s := range sources {
		if path.Base(s.Name) == base {
			same++
		}
	}
	if same != 1 {
		return origin
	}
	return origin[i+1:]
}

// explainCause returns the text of `unstall causes ID` in paragraphs, and the least evidence that
// supports the cause.
func explainCause(id string) (how []string, least string) {
	for _, k := range all.Causes {
		if k.ID == id {
			for p := range strings.SplitSeq(strings.TrimSpace(k.Doc), "\n\n") {
				how = append(how, strings.Join(strings.Fields(p), " "))
			}
			return how, k.Least
		}
	}
	return nil, ""
}

func newPredictionView(p diagnose.Prediction) predictionView {
	v := predictionView{Metric: p.Metric, Now: units.OfOptional(p.Now, p.Unit), Then: units.OfOptional(p.Then, p.Unit), Change: units.Change(p.Now, p.Then, nil, nil, p.Unit)}
	if p.Low != nil && p.High != nil && *p.Low != *p.High { // equal ends mean an unknown error
		factor, unit := units.Scale(p.Unit, max(math.Abs(*p.Low), math.Abs(*p.High)))
		v.Range = units.Range(p.Low, p.High, factor, unit)
	}
	return v
}

// newChangeView returns the first fix of a cause, with the effects that were predicted; nil if the
// cause has neither.
func newChangeView(c *causeView) *changeView {
	v := &changeView{ID: c.ID, How: len(c.How) > 0, Predicted: c.Predictions}
	if len(v.Predicted) > mostPredicted {
		v.Predicted = v.Predicted[:mostPredicted]
	}
	if len(c.Fix) > 0 {
		f := c.Fix[0]
		if v.Setting = f.Setting; v.Setting == "" {
			v.Text = f.Text
			if !strings.Contains(f.Code, "\n") {
				v.Code = f.Code
			}
		}
		return v
	}
	if len(v.Predicted) == 0 {
		return nil
	}
	return v
}

// mostRoutes is how many routes are shown; the JSON form has more.
const mostRoutes = 20

// mostPredicted is how many predicted effects stand beside the answer; all are further down.
const mostPredicted = 5

// figuresFirst moves verdicts without a figure to the end, as in the terminal.
func figuresFirst(verdicts []diagnose.Verdict) []diagnose.Verdict {
	var with, without []diagnose.Verdict
	for _, v := range verdicts {
		if v.Summary == "" {
			without = append(without, v)
		} else {
			with = append(with, v)
		}
	}
	return append(with, without...)
}

func (v *diagnosisView) addLimits(d *diagnose.Diagnosis) {
	for _, u := range d.NotSeen {
		v.Unseen = append(v.Unseen, unseenView{sentence.Unseen(u), u.Do})
	}
	for _, w := range d.Warnings {
		x := warningView{Text: w.Text, Origin: w.Origin}
		if w.Count > 1 {
			x.Count = units.Count(w.Count)
		}
		v.Warnings = append(v.Warnings, x)
	}
	v.addCoverage(d)
}

// addCoverage adds what was watched and when, from all sources together.
func (v *diagnosisView) addCoverage(d *diagnose.Diagnosis) {
	type key struct{ kind, subject string }
	of := make(map[key][]diagnose.Coverage)
	var order []key
	for _, c := range d.Coverage {
		k := key{c.Kind, c.Subject}
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], c)
	}
	for _, k := range order {
		x := coverageView{Kind: k.kind, Subject: k.subject, When: formatWatched(of[k])}
		if k.kind == evidence.CoverStates && !onGoroutines(d, k.subject) {
			x.Kind = "states of requests"
		}
		var lost int64
		for _, c := range of[k] {
			lost += c.Lost
		}
		if lost > 0 {
			x.Lost, v.Lossy = units.Count(lost), true
		}
		v.Coverage = append(v.Coverage, x)
	}
}

// onGoroutines says whether a subject's requests run on goroutines, true if that is unknown.
func onGoroutines(d *diagnose.Diagnosis, subject string) bool {
	for _, t := range d.Targets {
		if t.ID == subject {
			return platform.ByID(t.Runtime).Lane == platform.Go.Lane
		}
	}
	return true
}

// formatWatched returns when something was watched, in words.
func formatWatched(all []diagnose.Coverage) string {
	var longest float64
	spans := make([]diagnose.Coverage, 0, len(all))
	for _, c := range all {
		longest = max(longest, c.Seconds)
		if c.From != nil && c.Until != nil {
			spans = append(spans, c)
		}
	}
	if len(spans) == 0 && longest == 0 {
		return "at an unknown time"
	}
	if len(spans) == 0 {
		return sentence.Window(diagnose.Window{Duration: stats.FiniteOrNil(longest)})
	}
	sorting.Short(spans, func(a, b diagnose.Coverage) int { return a.From.Compare(*b.From) })
	from, until := *spans[0].From, *spans[0].Until
	pieces, total := 1, time.Duration(0)
	begin := from
	for _, c := range spans[1:] {
		if c.From.After(until) {
			pieces, total = pieces+1, total+until.Sub(begin)
			begin, until = *c.From, *c.Until
		} else if c.Until.After(until) {
			until = *c.Until
		}
	}
	total += until.Sub(begin)
	s := sentence.Window(diagnose.Window{Start: &from, End: &until})
	if total > 0 {
		s += ", " + units.Time(float64(total))
	}
	if pieces > 1 {
		s += " in " + units.Count(pieces) + " pieces"
	}
	return s
}

// addContents lists what is below the answer, in few words: the list stays on one line.
func (v *diagnosisView) addContents(json bool, after []Link) {
	add := func(id, title string) { v.Contents = append(v.Contents, Link{id, title}) }
	at := func(name string) string { return fmt.Sprintf("%s-%d", name, v.N) }
	for _, c := range v.Causes { // in the order of the questions: what, why, where, whose, when, what else
		_, title, grouped := strings.Cut(c.Cause, ".")
		if !grouped {
			title = c.Cause
		}
		if len(v.Contents) == 0 {
			title = "Why: " + title
		}
		add(c.ID, title)
	}
	if v.Where != nil {
		add(at("where"), "Where")
	}
	if v.Through != nil {
		add(at("through"), "Stack")
	}
	if len(v.Routes) > 0 {
		add(at("routes"), "Routes")
	}
	for _, x := range v.Stacks {
		add(x.ID, x.Title)
	}
	if v.Collected != nil {
		add(at("collected"), "GC")
	}
	for _, p := range v.Views {
		if p.Present {
			add(at(p.Kind), strings.Replace(p.Title, "One slow request", "One request", 1))
		}
	}
	if len(v.RuledOut) > 0 {
		add(at("ruled-out"), "Ruled out")
	}
	add(at("not-seen"), "Not seen")
	if len(v.Warnings) > 0 {
		add(at("warnings"), "Warnings")
	}
	add(at("sources"), "Sources")
	if json {
		v.Contents = append(v.Contents, Link{"json", "As JSON"})
	}
	v.Contents = append(v.Contents, after...)
}
