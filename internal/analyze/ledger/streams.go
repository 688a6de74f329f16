package ledger

import (
	"maps"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
)

// withoutStreams leaves out streams, whose latency is how long a client listens. If a route has one, it leaves out all its
// requests that last long or had not ended at the end of the recording. Streams answer when there is an event, so none of
// them is slow, and their latency says nothing of others. Where its library tells that a stream waits for messages, as SignalR's long polls do, the route's
// requests are streams however short they are. Sibling routes with few requests each count as one route: "/wait/room7" and "/wait/room8".
func withoutStreams(b *evidence.Bundle, subject evidence.SubjectID, sources map[evidence.ArtifactID][]int) {
	streams := streamRoutes(b, subject)
	if len(streams) == 0 {
		return
	}
	r := &b.Requests
	for _, a := range slices.Sorted(maps.Keys(sources)) {
		all := sources[a]
		family := routeFamilies(b, all)
		routes, short := make(map[string]int64), make(map[string]int)
		for _, i := range all {
			of := family[r.Route.At(i)]
			least, is := streams[b.Names.Text(r.Route.At(i))]
			if before, known := routes[of]; is && (!known || least < before) {
				routes[of] = least
			}
		}
		for _, i := range all {
			of := family[r.Route.At(i)]
			switch least, is := routes[of]; {
			case !is:
			case r.Latency(i) >= least:
				short[of]--
			case r.Outcome.At(i) != evidence.Unfinished:
				short[of]++
			}
		}
		// Where most requests end sooner than possible streams, a long one is not a stream.
		maps.DeleteFunc(routes, func(of string, _ int64) bool { return short[of] > 0 })
		rest := slices.DeleteFunc(slices.Clone(all), func(i int) bool {
			least, is := routes[family[r.Route.At(i)]]
			return is && (r.Latency(i) >= least || r.Outcome.At(i) == evidence.Unfinished)
		})
		n := len(all) - len(rest)
		if n == 0 {
			continue
		}
		if sources[a] = rest; len(rest) == 0 {
			delete(sources, a)
		}
		b.Warnf(evidence.NewOrigin(a, 0), "not counted: %s streaming requests (WebSockets, events, streams: they last as long as the client listens) to %s",
			units.Count(n), strings.Join(slices.Sorted(maps.Keys(routes)), ", "))
	}
}

// routeFamilies returns the family of each route: its own name, or its parent path for routes with few requests.
func routeFamilies(b *evidence.Bundle, rows []int) map[evidence.NameID]string {
	n := make(map[evidence.NameID]int)
	for _, i := range rows {
		n[b.Requests.Route.At(i)]++
	}
	family := make(map[evidence.NameID]string, len(n))
	for route, n := range n {
		family[route] = b.Names.Text(route)
		if at := parentRoute(family[route]); n < MinRequests && at != "" {
			family[route] = at + "/…"
		}
	}
	return family
}

// streamRoutes returns the routes of requests that were seen to be streams, each with the least latency (ns) of a possible stream.
func streamRoutes(b *evidence.Bundle, subject evidence.SubjectID) map[string]int64 {
	streams := make(map[string]int64)
	for _, f := range b.Facts {
		if f.Subject == subject && f.Key == evidence.FactStream {
			streams[f.Value] = int64(f.Number)
		}
	}
	routes := make(map[string]int64)
	for _, f := range b.Facts {
		if f.Subject != subject || f.Key != evidence.FactLongRequest {
			continue
		}
		id, route, _ := strings.Cut(f.Value, " ")
		least, is := streams[id]
		if before, known := routes[route]; is && route != "" && (!known || least < before) {
			routes[route] = least
		}
	}
	return routes
}
