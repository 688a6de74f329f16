package ledger

import (
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/figure"
)

// withoutStreams leaves out the requests that last as long as somebody listens: of a route that
// one of them has, all that last long or had not ended when the recording did. They answer when there is something to tell, so none of them
// is slow, and how long they last says nothing of the others.
func withoutStreams(b *evidence.Bundle, subject evidence.SubjectID, sources map[evidence.ArtifactID][]int) {
	routes, least := streamRoutes(b, subject)
	if len(routes) == 0 {
		return
	}
	r := &b.Requests
	for _, a := range slices.Sorted(maps.Keys(sources)) {
		all := sources[a]
		routes := maps.Clone(routes)
		maps.DeleteFunc(routes, func(route string, _ bool) bool { return mostlyShort(b, all, route, least) })
		rest := slices.DeleteFunc(slices.Clone(all), func(i int) bool {
			return routes[b.Names.Text(r.Route[i])] && (r.Latency(i) >= least || r.Outcome[i] == evidence.Unfinished)
		})
		n := len(all) - len(rest)
		if n == 0 {
			continue
		}
		if sources[a] = rest; len(rest) == 0 {
			delete(sources, a)
		}
		b.Warnf(evidence.NewOrigin(a, 0), "left out of the figures, because they last as long as somebody listens (WebSockets, events, streams): %s requests to %s",
			figure.Count(n), strings.Join(slices.Sorted(maps.Keys(routes)), ", "))
	}
}

// mostlyShort says that most requests of a route end sooner than those that may be streams: then
// one that lasts long is no stream.
func mostlyShort(b *evidence.Bundle, rows []int, route string, least int64) bool {
	r := &b.Requests
	var short, long int
	for _, i := range rows {
		switch {
		case b.Names.Text(r.Route[i]) != route:
		case r.Latency(i) >= least:
			long++
		case r.Outcome[i] != evidence.Unfinished:
			short++
		}
	}
	return short > long
}

// streamRoutes are the routes of requests that were seen to be streams, and how long (ns) one
// lasts at least that may be.
func streamRoutes(b *evidence.Bundle, subject evidence.SubjectID) (routes map[string]bool, least int64) {
	streams := make(map[string]bool)
	for _, f := range b.Facts {
		if f.Subject == subject && f.Key == evidence.FactStream {
			streams[f.Value], least = true, int64(f.Number)
		}
	}
	routes = make(map[string]bool)
	if len(streams) == 0 {
		return nil, 0
	}
	for _, f := range b.Facts {
		if f.Subject != subject || f.Key != evidence.FactLongRequest {
			continue
		}
		if id, route, _ := strings.Cut(f.Value, " "); streams[id] && route != "" {
			routes[route] = true
		}
	}
	return routes, least
}
