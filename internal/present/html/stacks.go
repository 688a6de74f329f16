package html

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/analyze/threads"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/sentence"
)

// stacksView is what the threads of a process did at one moment: groups of those
// that do the same, and their stacks laid upon each other, as Visual Studio's
// Parallel Stacks.
type stacksView struct {
	ID      string // in the page
	H, Sub  int
	Title   string
	Says    string
	Groups  []groupView
	Rest    string // groups that are not shown
	Root    []*nodeView
	Omitted int // threads whose parts of the tree are not shown
}

// groupView is the threads that do the same at the same place.
type groupView struct {
	Count, Bar string // Bar: of all threads, %
	Doing      string
	Owner      string // the first frame of the user's own code, "" none
	Who        string
	Tone       string // "culprit", "waits", "runs", "idle"
	Open       bool
	Frames     []frameView // innermost first: down to the user's code and a little further
	Below      []frameView // what called that
	Note       string      // which threads, and where they were seen
}

// frameView is one frame of a stack.
type frameView struct {
	Text string
	Tone string // "culprit": the user's frame that keeps the thread; "own": the user's; "": others'
}

// nodeView is a part of the stacks that threads share.
type nodeView struct {
	Count, Bar string
	Label      string // its frame that says most
	Tone       string
	All        string // how many frames it has, "" one
	Ends       string // threads whose stacks end here
	Frames     []frameView
	Children   []*nodeView
	Open       bool
}

const (
	mostGroups = 40
	mostNodes  = 300
	below      = 3 // frames that are shown below the user's code without being asked for
)

func newStacksViews(d *diagnose.Diagnosis, n, h, sub int) (out []stacksView) {
	var named []string
	supported, _, _ := sentence.Split(d)
	for _, v := range supported {
		for _, f := range v.Fix {
			if f.Code != "" {
				named = append(named, f.Code)
			}
		}
	}
	all := d.Threads()
	for i, t := range all {
		if t.Summary == nil || t.Threads == 0 {
			continue
		}
		v := stacksOf(t.Summary, named)
		v.ID, v.H, v.Sub, v.Title = fmt.Sprintf("threads-%d-%d", n, i+1), h, sub, "Threads"
		if len(all) > 1 {
			v.Title += " of " + t.Subject
		}
		out = append(out, v)
	}
	return out
}

// stacksOf returns the view of one moment. Named is the code that verdicts name.
func stacksOf(s *threads.Summary, named []string) stacksView {
	c := culprit{owners: named}
	c.findFrames(s)
	v := stacksView{Says: describeThreads(s)}
	for k := range s.Groups {
		if k == mostGroups {
			v.Rest = fmt.Sprintf("Groups not shown: %s.", units.Count(len(s.Groups)-k))
			break
		}
		v.Groups = append(v.Groups, c.newGroupView(s, &s.Groups[k]))
	}
	left := mostNodes
	v.Root, v.Omitted = c.newNodeViews(s.Root, s.Threads, &left)
	return v
}

// describeThreads returns the moment in one sentence.
func describeThreads(s *threads.Summary) string {
	text := units.Plural(s.Threads, "thread")
	if s.At != 0 {
		text += " at " + time.Unix(0, s.At).UTC().Format("15:04:05.000") + " UTC"
	}
	if s.Pool > 0 {
		pool := s.Pools()
		if pool == "the pool" {
			pool = "the runtime's pool"
		}
		text += fmt.Sprintf(", %s of %s (%s)", units.Count(s.Pool), pool, sentence.Working(s))
	}
	return text + ". Threads that do the same are one row; open it for the stack, innermost frame first."
}

// culprit is the code that keeps threads from work.
type culprit struct {
	owners []string // as verdicts name them
	frames []string // readable
}

// findFrames collects the frames of the user's code that verdicts name.
func (c *culprit) findFrames(s *threads.Summary) {
	for i := range s.Groups {
		if g := &s.Groups[i]; c.isBlamed(g) && g.View.User >= 0 && g.View.User < len(g.Frames) {
			c.frames = append(c.frames, readableFrame(g.Frames[g.View.User]))
		}
	}
}

// isBlamed says whether a verdict names the code that the threads of a group wait in.
func (c *culprit) isBlamed(g *threads.Group) bool {
	return g.View.Waiting() && g.View.Owner != "" && slices.ContainsFunc(c.owners, func(o string) bool {
		return strings.Contains(o, g.View.Owner)
	})
}

func (c *culprit) newGroupView(s *threads.Summary, g *threads.Group) groupView {
	v := groupView{Count: units.Count(g.Count), Bar: formatPercentage(float64(g.Count) / float64(max(s.Threads, 1))), Doing: threadstack.WithoutFutex(g.View.Doing()), Who: g.Who(s), Tone: groupTone(g.View)}
	if g.View.State != evidence.Idle {
		v.Owner = g.View.Owner
	}
	if c.isBlamed(g) {
		v.Tone, v.Open = "culprit", true
	}
	var all []frameView
	for i, f := range g.Frames {
		x := frameView{Text: readableFrame(f)}
		switch {
		case i != g.View.User:
		case v.Tone == "culprit":
			x.Tone = "culprit"
		default:
			x.Tone = "own"
		}
		all = append(all, x)
	}
	cut := len(all)
	if u := g.View.User; u >= 0 {
		shown := max(below, min(g.View.Outer-u, 4*below)) // up to where the framework called the user's code
		if len(all)-u-1-shown > below {                   // not for a few
			cut = u + 1 + shown
		}
	}
	v.Frames, v.Below = all[:cut], all[cut:]
	v.Note = formatLanes(g)
	return v
}

// readableFrame returns a frame as its source names it; a marker such as "[Native Frames]" stays
// as it is.
func readableFrame(frame string) string {
	if strings.HasPrefix(frame, "[") {
		return frame
	}
	return threadstack.Readable(frame)
}

// parts are where a function's name is broken, if it must be.
var parts = strings.NewReplacer("!", "!<wbr>", ".", ".<wbr>", ",", ",<wbr>", "(", "<wbr>(", "_", "_<wbr>")

// renderFunction renders a function's name, which breaks between its parts.
func renderFunction(name string) template.HTML {
	return template.HTML(parts.Replace(template.HTMLEscapeString(name)))
}

// groupTone returns how a group is coloured.
func groupTone(v threadstack.View) string {
	switch {
	case v.Waiting() && v.Role == threadstack.Worker:
		return "waits"
	case v.State == evidence.Running:
		return "runs"
	}
	return "idle"
}

// formatLanes names the threads of a group and says how often they were seen.
func formatLanes(g *threads.Group) string {
	const most = 12
	var names []string
	for _, l := range g.Lanes {
		if l != 0 && len(names) < most {
			names = append(names, fmt.Sprint(l))
		}
	}
	var text []string
	if len(names) > 0 {
		s := "threads " + strings.Join(names, ", ")
		if len(names) == 1 {
			s = "thread " + names[0]
		}
		if n := len(g.Lanes) - len(names); n > 0 {
			s += fmt.Sprintf(" and %s more", units.Count(n))
		}
		text = append(text, s)
	}
	if g.Seen > g.Count {
		text = append(text, fmt.Sprintf("seen %s times in all samples", units.Count(g.Seen)))
	}
	return strings.Join(text, "; ")
}

// newNodeViews returns the views of the children of a node, and how many threads are in those that
// are left out once left is used up.
func (c *culprit) newNodeViews(of *threads.Node, all int, left *int) (out []*nodeView, omitted int) {
	for _, n := range of.Children {
		if *left == 0 {
			omitted += n.Count
			continue
		}
		*left--
		v := &nodeView{Count: units.Count(n.Count), Bar: formatPercentage(float64(n.Count) / float64(max(all, 1)))}
		label := len(n.Frames) - 1
		for i, f := range n.Frames {
			x := frameView{Text: f}
			if slices.Contains(c.frames, f) {
				x.Tone, v.Tone, label = "culprit", "culprit", i
			}
			v.Frames = append(v.Frames, x)
		}
		v.Label = n.Frames[label]
		if k := len(n.Frames); k > 1 {
			v.All = fmt.Sprintf("all %s frames", units.Count(k))
		}
		if len(n.Lanes) > 0 {
			v.Ends = threadstack.WithoutFutex(n.View.Doing())
		}
		var under int
		v.Children, under = c.newNodeViews(n, all, left)
		omitted += under
		v.Open = v.Tone == "culprit" || slices.ContainsFunc(v.Children, func(x *nodeView) bool { return x.Open })
		out = append(out, v)
	}
	return out, omitted
}
