package waitqueues

import "strings"

// Statistics of proxies, in which each row is of one cluster or server behind them:
//
//	cluster.shop.upstream_cx_active: 1024                                  Envoy 1 and Istio: /stats
//	cluster.shop.upstream_rq_pending_active: 976
//	cluster.shop.upstream_rq_pending_overflow: 22614
//
//	# pxname,svname,qcur,qmax,scur,smax,slim,stot,…                        HAProxy 1.3 to 3: show stat
//	shop,web1,12,31,100,100,100,904411,…
//
// https://www.envoyproxy.io/docs/envoy/latest/configuration/upstream/cluster_manager/cluster_stats, https://docs.haproxy.org/3.1/management.html#9.1.
// An overflow of Envoy is a request that it refused, as its circuit breaker allowed no more connections and no more that wait. A queue of HAProxy is of requests
// for a server whose maxconn are in use; a frontend at its limit accepts no further connection.

const (
	envoy   = "Envoy"
	haproxy = "HAProxy"
)

// mostClusters bounds the clusters of Envoy that are kept.
const mostClusters = 5000

// refused is the part of a cluster's requests, since Envoy's start, that were refused for want of places, from which on that counts where none waits now:
// of fewer it may have been one burst.
const refused = .01

// queued (ms) is the mean time in HAProxy's queue, over the last 1024 requests, from which on it counts: people notice a second (J. Nielsen, Usability Engineering,
// 1993, chapter 5).
const queued = 1000

// cluster is what Envoy counts of one.
type cluster struct {
	name                                  string
	connections, active, pending, refused int64
	all                                   int64
	line                                  int64
}

// parseCluster reads a line of Envoy's /stats; false of other lines.
func (p *parser) parseCluster(text string, line int64) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "cluster.")
	if !ok {
		return false
	}
	key, value, ok := strings.Cut(rest, ": ")
	i := strings.LastIndex(key, ".upstream_")
	if !ok || i <= 0 || !isWhole(value) || strings.ContainsAny(key[:i], " \t") {
		return false
	}
	name := strings.ToValidUTF8(key[:min(i, mostName)], "?")
	x := p.clusters[name]
	if x == nil {
		if len(p.clusters) == mostClusters {
			return true
		}
		if p.clusters == nil {
			p.clusters = make(map[string]*cluster)
		}
		x = &cluster{name: name, line: line}
		p.clusters[name] = x
		p.order = append(p.order, x)
	}
	v := wholeOf(value)
	switch key[i+len(".upstream_"):] {
	case "cx_active":
		x.connections = v
	case "rq_active":
		x.active = v
	case "rq_pending_active":
		x.pending = v
	case "rq_total":
		x.all = v
	case "rq_pending_overflow":
		x.refused, x.line = v, line
	}
	return true
}

// addClusters adds the clusters of Envoy as pools.
func (p *parser) addClusters() {
	for _, x := range p.order {
		pool := p.addPool(envoy, x.name, max(x.connections, x.active), x.pending, x.refused, x.line)
		if pool == nil {
			continue
		}
		pool.standing = 0
		if x.refused > 0 && (x.pending > 0 || float64(x.refused) >= refused*float64(x.all+x.refused)) {
			pool.standing = 1
		}
	}
}

// isStatHeading says whether a line begins HAProxy's statistics, and returns its columns.
func isStatHeading(text string) (columns []string, ok bool) {
	text = strings.TrimLeft(text, "# ")
	if !strings.HasPrefix(text, "pxname,svname,") {
		return nil, false
	}
	return strings.Split(strings.TrimRight(text, ",\r"), ","), true
}

// parseStat reads a row of HAProxy's statistics: sessions at work, and requests that wait for one; false of other lines.
func (p *parser) parseStat(text string, line int64) bool {
	cells := strings.Split(strings.TrimSpace(text), ",")
	if len(cells) < len(p.columns)-1 || len(cells) < 7 || cells[0] == "" || strings.ContainsAny(cells[0]+cells[1], " \t") {
		return false
	}
	of := func(name string) int64 {
		for i, c := range p.columns[:min(len(p.columns), len(cells))] {
			if c == name && isWhole(cells[i]) {
				return wholeOf(cells[i])
			}
		}
		return 0
	}
	if !isWhole(cells[4]) { // scur stands in each row
		return false
	}
	works, waits, limit := of("scur"), of("qcur"), of("slim")
	pool := p.addPool(haproxy, cells[0]+"/"+cells[1], works, waits, 0, line)
	if pool == nil {
		return true
	}
	pool.places = limit
	switch {
	case cells[1] == "FRONTEND" && limit > 0 && works >= limit, of("qtime") >= queued, limit > 0 && works >= limit && waits >= works:
		pool.standing = 1
	}
	return true
}
