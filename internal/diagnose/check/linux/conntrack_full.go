package linux

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// ConntrackFull is packets that the kernel drops because its table of connections is full.
var ConntrackFull = check.Check{
	ID:    "linux.conntrack-full",
	Title: "the kernel's table of connections is full, and packets are dropped",
	Step:  check.StepEntrance,
	Doc: `Where a firewall or NAT needs to know connections (iptables with -m state, NAT, kube-proxy, Docker's
bridge), the kernel keeps each in a table, nf_conntrack, also for a while after its end: minutes in
TIME_WAIT, five days for an established one that was not closed. At nf_conntrack_max it drops the packets of
connections that are not in the table. A client that cannot connect then tries again after 1 s, 3 s, 7 s; datagrams of
DNS are lost, and resolvers ask again after 5 s. Connections that exist go on as usual, so keep-alive
hides it, and no CPU is busy.

It shows in the kernel's log ("nf_conntrack: table full, dropping packet", at most a few lines per
5 s however many packets were dropped), as nf_conntrack_count at nf_conntrack_max, and as drop and
insert_failed in conntrack -S.

How to tell it from similar problems: a full accept queue (service.accept-queue) belongs to one
service and drops its connections alone; a port range that is used up fails at once
(EADDRNOTAVAIL) in the client.

What helps: a larger table (nf_conntrack_max; each entry takes about 320 bytes, and the number of its buckets
should grow with it), shorter timeouts (nf_conntrack_tcp_timeout_established and _time_wait), no tracking
where no rule needs it (NOTRACK), and connections that are kept open instead of one for each request.`,
	Least:      "the kernel's log says that the table was full, or nf_conntrack_count is at 99 % of nf_conntrack_max",
	Thresholds: []check.Threshold{tableFull},

	Needs: "the kernel's log (dmesg -T), or /proc/sys/net/netfilter/nf_conntrack_count and nf_conntrack_max",
	Applies: func(c *check.Case) bool {
		_, _, _, told := conntrackOf(c)
		return told
	},
	Judge: func(c *check.Case) check.Verdict {
		v, full := judgeConntrack(c)
		if full && c.Ledger != nil {
			v.Rule, v.Weight = check.Untold, 0
			v.Summary += "; when is not known, and whether requests waited for it"
			v.Needs = []check.Need{{What: "when packets were dropped: dmesg -T, and conntrack -S while requests are slow"}}
		}
		return v
	},
	JudgeHost: judgeConntrack,
}

var tableFull = check.Threshold{Name: "part of the table of connections in use from which it is full", Value: .99, Unit: "1",
	Why: "the kernel frees single entries early before it drops", Source: "early_drop in net/netfilter/nf_conntrack_core.c"}

// conntrackOf returns how often the kernel's log says that the table was full, how many connections are in it, and which part of it they are; told
// says whether either is known.
func conntrackOf(c *check.Case) (said, count evidence.Fact, part float64, told bool) {
	said, told = hungTasks(c, "conntrack")
	count, counted := c.Fact(evidence.FactConntrackCount)
	most, limited := c.Fact(evidence.FactConntrackMost)
	if !limited {
		most, limited = c.Fact(evidence.FactConntrackMostOld)
	}
	if counted && limited && most.Number > 0 {
		return said, count, count.Number / most.Number, true
	}
	return said, count, 0, told
}

// judgeConntrack judges a host by its table of connections.
func judgeConntrack(c *check.Case) (v check.Verdict, ok bool) {
	said, count, part, _ := conntrackOf(c)
	if said.Number == 0 && part < tableFull.Value {
		v = check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("%s of the table of connections is in use", units.Percent(part))}
		v.Weigh(part, tableFull)
		return v, false
	}
	v = check.Verdict{Rule: check.StandsAlone, Weight: 2}
	var how []string
	if said.Number > 0 {
		how = append(how, units.Plural(int(said.Number), "line")+" of the kernel's log")
		v.Evidence = append(v.Evidence, c.Figure("host.conntrack_full_lines", "lines of the kernel's log that say that packets were dropped; it leaves out most of them", said.Number, "count", said.Origin))
	}
	if part >= tableFull.Value {
		how = append(how, fmt.Sprintf("%s of it in use", units.Percent(min(1, part))))
		v.Evidence = append(v.Evidence, c.Figure("host.conntrack_used_share", "part of the table of connections in use", part, "1", count.Origin))
	}
	v.Summary = "the table of connections was full: " + strings.Join(how, ", ")
	v.Title = "The kernel's table of connections is full: packets of new connections are dropped, and tried again after 1 s and longer."
	v.Fix = []check.Fix{{Text: "make the table larger, and keep it so after the next start (/etc/sysctl.d)", Setting: "net.netfilter.nf_conntrack_max=524288", Code: "sysctl net.netfilter.nf_conntrack_count net.netfilter.nf_conntrack_max"},
		{Text: "find what opens so many connections (conntrack -L, counted by address), and keep connections open there (keep-alive, a pool); or do not track them"}}
	v.Needs = []check.Need{{What: "how many connections fail or wait because of it: conntrack -S twice, ten seconds apart"}}
	return v, true
}
