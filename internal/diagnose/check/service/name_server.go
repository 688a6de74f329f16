package service

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// nameServer is how a name server is called before its address, as internal/base/evidence names waits for one.
const nameServer = "name server (DNS)"

var (
	sentAgain = check.Threshold{Name: "part of the time of queries to a name server in those that were sent again", Value: .25, Unit: "1",
		Why: "then lost queries matter, not slow answers alone", Source: "judgement: as the share of slow time from which a cause is named"}
	askedAgain = check.Threshold{Name: "time for which a resolver waits before it asks again", Value: 1e9, Unit: "ns",
		Why: "a shorter time cannot be set", Source: "resolv.conf(5), timeout"}
	unknownNames = check.Threshold{Name: "part of a name server's answers that the name is unknown", Value: .3, Unit: "1",
		Why: "each lookup then needs one query more", Source: "resolv.conf(5), search: with one domain to search half of the answers are so, and with more domains more"}
)

// lookedUp is what the queries to a name server came to.
type lookedUp struct {
	queries, again, unknown int
	times                   int // that some were sent again
	ns, againNs             int64
}

// lookedUpAt sums up the queries to the name server of this name; nil if it is not a name server.
func lookedUpAt(c *check.Case, whom string) *lookedUp {
	x := exchangedOf(c)
	if x == nil || !strings.HasPrefix(whom, nameServer) {
		return nil
	}
	s := &lookedUp{}
	for i := range x.calls {
		call := &x.calls[i]
		if c.Bundle.Names.Wait(call.to).Kind != evidence.NameServer || !strings.HasPrefix(whom+" ", c.Bundle.Names.Text(call.to)+" ") {
			continue
		}
		s.queries++
		s.ns += call.answerTime()
		if call.again > 0 {
			s.again++
			s.times += call.again
			s.againNs += call.answerTime()
		}
		if call.unknown {
			s.unknown++
		}
	}
	return s
}

// isLossy says whether waiting for lost answers takes much of the resolver's time.
func (s *lookedUp) isLossy() bool {
	return s.times > 0 && float64(s.againNs) >= sentAgain.Value*float64(s.ns) && float64(s.againNs) >= askedAgain.Value*float64(s.times)
}

// hasUnknownNames says whether many of the names looked up do not exist.
func (s *lookedUp) hasUnknownNames() bool {
	return s.unknown > 0 && float64(s.unknown) >= unknownNames.Value*float64(s.queries)
}

// addEvidence adds what the queries show, and what helps.
func (s *lookedUp) addEvidence(c *check.Case, v *check.Verdict) {
	origin := exchangedOf(c).origin
	if s.again > 0 {
		v.Evidence = append(v.Evidence, c.Figure("lookups.sent_again", fmt.Sprintf("queries that were sent again before an answer came, of %s", units.Plural(s.queries, "query")), float64(s.again), "count", origin))
	}
	if s.unknown > 0 {
		v.Evidence = append(v.Evidence, c.Figure("lookups.unknown_share", "share of queries answered that the name is unknown (NXDOMAIN)", float64(s.unknown)/float64(s.queries), "1", origin))
	}
	if s.isLossy() {
		v.Fix = append(v.Fix, check.Fix{Text: "have the resolver wait less before it asks again (in /etc/resolv.conf), and find out where queries or answers are lost: an overloaded name server, a firewall, a full conntrack table", Setting: "options timeout:1 attempts:3"})
	}
	v.Fix = append(v.Fix, check.Fix{Text: "look names up less often: keep connections open, and cache answers in the client or on this host (systemd-resolved, dnsmasq or unbound; in Kubernetes NodeLocal DNSCache); then find out what the name server waits for, which is mostly another one that it asks itself"})
	if s.hasUnknownNames() {
		v.Fix = append(v.Fix, unsearched)
	}
}

// unsearched is what helps where names are looked up that do not exist.
var unsearched = check.Fix{Text: "look up full names, with a dot at the end, or have names with a dot asked as they are first (in /etc/resolv.conf, in Kubernetes dnsConfig): search domains make several queries of each lookup", Setting: "options ndots:1"}

// mainZone returns the zone of the names that most of the time was asked for, of any record type.
func (a *asked) mainZone(c *check.Case) string {
	of := make(map[string]int64)
	top := ""
	for id, ns := range a.of {
		_, zone, _ := strings.Cut(c.Bundle.Names.Text(id), " ")
		if of[zone] += ns; zone != "" && 2*of[zone] > a.ns {
			top = zone
		}
	}
	return top
}

// judgeUnansweredLookups judges a program by the answers of a name server that it waited for in vain, where nothing is known of its requests.
func judgeUnansweredLookups(c *check.Case) (v check.Verdict, ok bool) {
	n, told := c.Fact(evidence.FactLookupsUnanswered)
	most, _ := c.Fact(evidence.FactLookupUnansweredMost)
	if !told || most.Number < askedAgain.Value {
		return v, false
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: 1,
		Title:   fmt.Sprintf("Probably: a %s does not answer each query: the program waited for an answer in vain for up to %s, until it asked again.", nameServer, units.Time(most.Number)),
		Summary: fmt.Sprintf("%s of up to %s for a name server", units.Plural(int(n.Number), "wait"), units.Time(most.Number))}
	v.Evidence = append(v.Evidence, c.Figure("lookups.unanswered_ms", "longest wait in vain for its answer", most.Number/1e6, "ms", most.Origin),
		c.Figure(evidence.FactLookupsUnanswered, "waits for its answer that ended without one", n.Number, "count", n.Origin))
	v.Fix = []check.Fix{{Text: "find out whether the name server, or a firewall before it, loses one of two queries that are sent at once (of IPv4 and IPv6 addresses); until then have the resolver send them one by one, and wait less (in /etc/resolv.conf)", Setting: "options single-request-reopen timeout:1"}}
	v.Needs = []check.Need{{What: "the queries and answers themselves", Command: "tcpdump -w dns.pcap port 53"}}
	return v, true
}
