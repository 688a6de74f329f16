package diagnose

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/analyze/metrics"
	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/diagnose/check/service"
)

// joinedFrom is the part of a service's waits for others from which it counts as waiting for one server.
const joinedFrom = .5

// joinServers joins the report of a service whose requests wait for a server that reports on itself, such as Redis, with the finding about what that
// server spends the time on, where both were recorded.
func (r *run) joinServers(all []Verdict) []Verdict {
	seen := make(map[string]bool) // services
	for {
		i, best, title := r.toJoin(all, seen)
		if best < 0 {
			return all
		}
		all = joinVerdicts(all, i, best, title)
	}
}

// toJoin returns the next service whose requests wait for a server, and the best verdict about
// that server, as indexes into all; −1 if none is left.
func (r *run) toJoin(all []Verdict, seen map[string]bool) (waiting, best int, title string) {
	for i := range all {
		v := &all[i]
		if v.Cause != service.DependencySlow.ID || v.Verdict != check.Supported || seen[v.Subject] {
			continue
		}
		seen[v.Subject] = true
		who := slices.IndexFunc(r.b.Subjects, func(s evidence.Subject) bool { return r.subjectTitle(s) == v.Subject })
		if who < 0 {
			continue
		}
		waits := r.waitsOf(evidence.SubjectID(who))
		for id, s := range r.b.Subjects {
			server, name := platform.ByID(s.Runtime), r.name[evidence.SubjectID(id)]
			if !server.Tells || name == "" || id == who || waits.serverShare(r.b, evidence.SubjectID(id), server, r.isOnlyServer(server)) < joinedFrom {
				continue
			}
			best := -1
			for k := range all {
				if x := &all[k]; x.Subject == name && x.Verdict == check.Supported && (best < 0 || x.weight > all[best].weight) {
					best = k
				}
			}
			if best < 0 {
				r.addServerIsFast(v, evidence.SubjectID(id), name)
				continue
			}
			return i, best, server.Title
		}
	}
	return -1, -1, ""
}

// joinVerdicts adds what the server spends the time on to the verdict about the service that waits
// for it, links the two, and puts the server's verdict right behind.
func joinVerdicts(all []Verdict, service, server int, title string) []Verdict {
	v, x := &all[service], &all[server]
	spent := x.spends
	if spent == "" {
		spent = "on what " + x.Cause + " explains"
	}
	began := "Slow requests wait for " + title
	if v.Saves != nil {
		began = fmt.Sprintf("Requests wait %s for %s", units.Ms(v.Saves.Value), title)
	}
	if x.alone == "" {
		x.alone = x.Title
	}
	own := x.alone
	v.Title = fmt.Sprintf("%s; %s spends it %s.", began, title, spent)
	v.Evidence = append(v.Evidence, Evidence{Text: x.Subject + ": " + own})
	v.Evidence = append(v.Evidence, x.Evidence...)
	v.Fix = append(slices.Clone(x.Fix), v.Fix...)
	v.Prediction = slices.Clone(v.Prediction)
	for i := range v.Prediction {
		if p := &v.Prediction[i]; p.Fix != nil {
			moved := *p.Fix + len(x.Fix)
			p.Fix = &moved
		}
	}
	v.Root = &Link{Cause: x.Cause, Subject: x.Subject}
	x.Title = fmt.Sprintf("%s Requests of %s wait for it.", own, v.Subject)
	if x.Saves == nil || v.Saves != nil && v.Saves.Value > x.Saves.Value {
		x.Saves = v.Saves
	}
	if server < service { // of equals, the first stays first
		moved := all[server]
		copy(all[server:service], all[server+1:service+1])
		all[service] = moved
	}
	return all
}

// addServerIsFast adds to the verdict about a service that the server it waits for answers fast
// itself.
func (r *run) addServerIsFast(v *Verdict, id evidence.SubjectID, name string) {
	c := &check.Case{Bundle: r.b, Subject: id}
	server := metrics.RedisOf(r.b, id, metrics.Whole)
	if server == nil || server.Single {
		return
	}
	if w := server.Waits(); w.Mean.Known() && w.Late.Number < 1-joinedFrom {
		v.Evidence = append(v.Evidence, c.Figure("redis.ping_wait_ms", name+" itself: mean delay of a PING above its minimum; no cause was found there, so the time passes in the network or in the client", w.Mean.Number/1e6, "ms", w.Mean.Origin))
	}
}

// isOnlyServer says whether just one server of this kind was recorded.
func (r *run) isOnlyServer(server *platform.Runtime) bool {
	n := 0
	for id := range r.name {
		if r.name[id] != "" && r.b.Subjects[id].Runtime == server.ID {
			n++
		}
	}
	return n == 1
}

func (r *run) subjectTitle(s evidence.Subject) string {
	for id, name := range r.name {
		if r.b.Subjects[id] == s {
			return name
		}
	}
	return ""
}

// waits are the network waits of a service's slow requests, ns, by what is known of the other end.
type waits struct {
	all   int64
	texts map[string]int64 // names and functions of a wait, in lower case
}

func (r *run) waitsOf(s evidence.SubjectID) waits {
	w := waits{texts: make(map[string]int64)}
	l := r.incident.Ledger(s)
	if l == nil {
		return w
	}
	add := func(text string, ns int64) {
		w.all += ns
		w.texts[strings.ToLower(text)] += ns
	}
	type place struct {
		cause evidence.NameID
		stack evidence.StackID
	}
	by := make(map[place]int64)
	var x evidence.Segment
	for _, row := range l.Slow {
		for path := r.b.Requests.Path(row); path.Next(&x); {
			if x.Kind == evidence.NetWait {
				by[place{x.Cause, x.Stack}] += x.Dur
			}
		}
	}
	for at, ns := range by {
		text := r.b.Names.Text(at.cause)
		text += " " + r.b.Stacks.Info(at.stack).On.String()
		for _, f := range r.b.Stacks.Frames(at.stack) {
			text += " " + r.b.Names.Text(f.Func)
		}
		add(text, ns)
	}
	if w.all == 0 {
		c := &check.Case{Bundle: r.b, Subject: s, Ledger: l, Looks: r.incident.Threads}
		for _, e := range c.Dependencies() {
			add(e.Name, e.Ns)
		}
	}
	return w
}

// serverShare returns the part of the waits that were for a server: by its port or UNIX socket,
// else by the names of its client libraries where there is no other server of its kind.
func (w waits) serverShare(b *evidence.Bundle, id evidence.SubjectID, server *platform.Runtime, alone bool) float64 {
	if w.all == 0 {
		return 0
	}
	ports, paths := portsOf(b, id), pathsOf(b, id)
	var of int64
	for text, ns := range w.texts {
		port := portIn(text)
		switch {
		case port != "" && slices.Contains(ports, port), slices.ContainsFunc(paths, func(path string) bool { return strings.Contains(text, path) }):
			of += ns
		case port == "" && alone && slices.ContainsFunc(server.Clients, func(name string) bool { return strings.Contains(text, name) }):
			of += ns
		}
	}
	return float64(of) / float64(w.all)
}

// portsOf returns the ports that a server listens at.
func portsOf(b *evidence.Bundle, id evidence.SubjectID) (all []string) {
	if _, port, err := net.SplitHostPort(b.Subjects[id].Address); err == nil {
		all = append(all, port)
	}
	for _, f := range b.Facts {
		if f.Subject == id && f.Key == evidence.FactRedisPort {
			all = append(all, strconv.Itoa(int(f.Number)))
		}
	}
	return all
}

// pathsOf returns the UNIX sockets that a server listens at, in lower case:
// "unix:/run/redis.sock".
func pathsOf(b *evidence.Bundle, id evidence.SubjectID) (all []string) {
	for _, f := range b.Facts {
		if _, at, ok := strings.Cut(f.Value, evidence.Link); ok && f.Subject == id && f.Key == evidence.FactListens && strings.HasPrefix(at, "unix:") {
			all = append(all, strings.ToLower(at))
		}
	}
	return all
}

// portIn returns the port of the first address in a text; "" if there is none.
func portIn(text string) string {
	for word := range strings.FieldsSeq(text) {
		word = strings.TrimRight(word, ".,;)")
		if host, port, err := net.SplitHostPort(word); err == nil && host != "" {
			if n, err := strconv.ParseUint(port, 10, 16); err == nil && n > 0 {
				return port
			}
		}
	}
	return ""
}
