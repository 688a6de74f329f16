package diagnose

import (
	"math"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/threadstack/stacktest"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Many slow requests that no cause explains are not "nothing found", and quick ones that take
// three times as long as the quickest are.
func TestOutcome(t *testing.T) {
	log := func(quick, slow time.Duration, every int64) *evidence.Bundle {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
		p.Clock().Name = "unix"
		s := p.Subject(evidence.Subject{Kind: evidence.Process, Name: "shop"})
		const epoch = int64(1_700_000_000e9)
		for i := range int64(2000) {
			took := quick
			if i%every == 0 {
				took = slow
			}
			from := epoch + i*10e6
			p.Request(evidence.Request{Subject: s, Start: from, End: from + int64(took), Origin: p.Origin(i)})
		}
		p.Close()
		return b
	}
	for _, x := range []struct {
		b    *evidence.Bundle
		slo  time.Duration
		want string
	}{
		{log(2*time.Millisecond, 400*time.Millisecond, 5), 0, NotExplained},
		{log(2*time.Millisecond, 400*time.Millisecond, 5), time.Second, NotJudged}, // an access log alone shows no mechanism
		{log(200*time.Microsecond, 2*time.Millisecond, 5), 0, NotJudged},
		{log(8*time.Millisecond, 26*time.Millisecond, 5), 0, NotExplained},
		{log(8*time.Millisecond, 26*time.Millisecond, 40), 0, NotJudged},         // so few are no harm
		{log(90*time.Microsecond, 270*time.Millisecond, 2000), 0, NotJudged},     // one moment, however little all the others take
		{log(90*time.Microsecond, 1500*time.Millisecond, 2000), 0, NotExplained}, // one that a twentieth of who arrives would meet
	} {
		d, err := Run(t.Context(), x.b, Options{SLO: x.slo})
		if err != nil {
			t.Fatal(err)
		}
		if d.Outcome != x.want {
			t.Errorf("%s, want %s: %d slow requests", d.Outcome, x.want, d.Requests.Slow)
		}
	}
}

// That all is well those say who make the requests, whatever else was not recorded; a service's own log does not, as it knows
// nothing of who waits for it.
func TestHealthyByClients(t *testing.T) {
	for clients, want := range map[bool]string{true: NothingFound, false: NotJudged} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "requests"}), "requests")
		p.Clock().Name = "unix"
		s := p.Subject(evidence.Subject{Kind: evidence.Process, Name: "shop"})
		const epoch = int64(1_700_000_000e9)
		for i := range int64(2000) {
			x := evidence.Request{Subject: s, Start: epoch + i*10e6, End: epoch + i*10e6 + 3e6 + i%100*20e3, Origin: p.Origin(i)}
			if clients {
				x.Intended = x.Start
			}
			p.Request(x)
		}
		p.Close()
		d, err := Run(t.Context(), b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d.Outcome != want {
			t.Errorf("seen by clients: %v: %s, want %s", clients, d.Outcome, want)
		}
	}
}

// Threads that are always at requests of which nobody knows how long they take are no sign of
// health; threads without work are.
func TestAtRequests(t *testing.T) {
	for _, x := range []struct {
		stack []string // innermost first
		want  float64  // 0: none
	}{
		{[]string{"java.net.SocketInputStream.socketRead0", "shop.Prices.ask", "javax.servlet.http.HttpServlet.service", "java.util.concurrent.ThreadPoolExecutor$Worker.run", "[http-8080]"}, 3},
		{[]string{"jdk.internal.misc.Unsafe.park", "java.util.concurrent.ThreadPoolExecutor.getTask", "java.util.concurrent.ThreadPoolExecutor$Worker.run", "[http-8080]"}, 0},
	} {
		b := evidence.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "threads.txt"}), "threaddump")
		p.Clock().Name = "unix"
		s := p.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "jvm", Name: "shop", PID: 4711, CPUs: 2})
		const epoch, looks = int64(1_700_000_000e9), 10
		stack := stacktest.Intern(p, stacktest.Of(x.stack...))
		for n := range int64(looks) {
			for lane := range evidence.LaneID(3) {
				p.Sample(evidence.Sample{Subject: s, Time: epoch + n*1e9, Lane: lane + 1, Stack: stack, Type: p.Name(evidence.SampleThread), Value: 1, Origin: p.Origin(n)})
			}
		}
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverThreads, From: epoch, Until: epoch + looks*1e9})
		p.Close()
		d, err := Run(t.Context(), b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		switch at := d.AtRequests; {
		case d.Outcome != NotJudged && x.want > 0:
			t.Errorf("%s: %s, want it not judged", x.stack[0], d.Outcome)
		case (at == nil) != (x.want == 0) || at != nil && *at != x.want:
			t.Errorf("%s: %v threads at requests, want %v", x.stack[0], at, x.want)
		}
	}
}

// Downloads at the pace of who takes them are no fault of the service, and the same waits for others are.
func TestAtTheClientsPace(t *testing.T) {
	const began = 1_795_423_700e9
	for kind, want := range map[evidence.Kind]bool{evidence.ClientWait: false, evidence.SyncWait: true} {
		b := incident.NewBundle()
		p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace"}), "trace")
		*p.Clock() = evidence.Clock{Name: "unix"}
		s := p.Subject(evidence.Subject{})
		for i := range int64(200) {
			took := int64(2e6)
			if i%4 == 0 {
				took = 3e9
			}
			at := began + i*100e6
			p.Request(evidence.Request{Subject: s, Lane: evidence.LaneID(i + 1), Route: p.Name("GET /reel"), Start: at, End: at + took, Path: evidence.Path(nil).Append(evidence.Segment{Kind: kind, Dur: took})})
		}
		p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: began, Until: began + 30e9})
		p.Close()
		i := incident.Of(b, incident.Options{})
		if got := isUnwell(i.Bundle, i.Ledgers()[0]); got != want {
			t.Errorf("%v: unwell %v, want %v; %+v", kind, got, want, i.Ledgers()[0].Charges)
		}
	}
}

// Clients that wait for seconds before a service sees them are not well, however quick the service itself is: the quickest
// of them waits, too, so that none stands out.
func TestWaitsBeforeService(t *testing.T) {
	for _, x := range []struct {
		client time.Duration // what requests take for clients; 4 ms of it in the service
		want   string
	}{
		{7 * time.Second, NotExplained},
		{5 * time.Millisecond, NothingFound},
	} {
		b := evidence.NewBundle()
		const epoch, each, inside = int64(1_700_000_000e9), int64(10e6), int64(4e6)
		clients := b.Builder(b.AddArtifact(evidence.Artifact{Name: "requests"}), "requests")
		clients.Clock().Name = "unix"
		s := clients.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "go", Name: "shop", PID: 4711})
		trace := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), "gotrace")
		trace.Clock().Name = "unix"
		traced := trace.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "go", Name: "shop", PID: 4711})
		for i := range int64(1000) {
			end := epoch + 10e9 + i*each
			began := end - int64(x.client) - i%50*20e3
			clients.Request(evidence.Request{Subject: s, Intended: began, Start: began, End: end, Origin: clients.Origin(i)})
			if i < 300 {
				var path evidence.Path
				trace.Request(evidence.Request{Subject: traced, Lane: evidence.LaneID(i + 1), Start: end - inside, End: end,
					Path: path.Append(evidence.Segment{Kind: evidence.Running, Dur: inside}), Origin: trace.Origin(i)})
			}
		}
		trace.Cover(evidence.Coverage{Subject: traced, Kind: evidence.CoverStates, From: epoch, Until: epoch + 20e9})
		trace.Close()
		clients.Close()
		d, err := Run(t.Context(), b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d.Outcome != x.want {
			t.Errorf("clients wait %v: %s, want %s; verdicts %+v", x.client, d.Outcome, x.want, d.Verdicts)
		}
	}
}

// A share that may be anything is no finding, unless it is most of the slow time of which anything is known.
func TestDecided(t *testing.T) {
	for _, x := range []struct {
		low, high float64 // ms of 1,000
		basis     string
		slow      int
		unseen    int64 // ns
		want      string
	}{
		{0, 1000, "sampling", 12, 0, check.Inconclusive}, {15, 985, "sampling", 12, 0, check.Inconclusive}, {0, 900, "sampling", 12, 0, check.Supported},
		{100, 1000, "sampling", 12, 0, check.Supported}, {0, 1000, "sampling", 300, 0, check.Supported}, {0, 1000, "bound", 300, 0, check.Inconclusive},
		{0, 1000, "bound", 300, .1e9, check.Inconclusive}, {0, 1000, "bound", 300, .3e9, check.Supported}, {0, 1000, "sampling", 12, .3e9, check.Inconclusive},
	} {
		l := &ledger.Ledger{Total: 1e9, Slow: make([]int, x.slow)}
		l.Charges[ledger.Unobserved] = x.unseen
		v := withdrawVague(check.Verdict{Rule: check.Matters, Saves: &check.Saves{Value: 400, Low: &x.low, High: &x.high, Basis: check.Basis(x.basis)}}, &check.Case{Ledger: l})
		if v.State != x.want {
			t.Errorf("%d slow requests, %s between %.0f and %.0f of 1,000 ms, %d ns unobserved: %s, want %s", x.slow, x.basis, x.low, x.high, x.unseen, v.State, x.want)
		}
	}
}

// What a figure that is not known found or cleared is left open.
func TestWithdrawUnknown(t *testing.T) {
	of := check.Threshold{Name: "what is compared", Value: 10, Unit: "count"}
	for _, x := range []struct {
		rule           check.Rule
		weight, figure float64
		want           check.Rule
	}{
		{check.Matters, 1, 12, check.Matters},
		{check.Matters, math.NaN(), math.NaN(), check.TooFew},
		{check.TooLittle, 0, 9, check.TooLittle},
		{check.TooLittle, 0, math.NaN(), check.NotRecorded},
		{check.Happens, 0, math.NaN(), check.Happens},
	} {
		v := check.Verdict{Rule: x.rule, Weight: x.weight}
		v.Weigh(x.figure, of)
		if got := withdrawUnknown(&check.Case{Bundle: evidence.NewBundle()}, v); got.Answer != x.want.Answer || got.Answer != x.rule.Answer && len(got.Needs) == 0 {
			t.Errorf("%s by %v: %s, needs %v", x.rule.Answer, x.figure, got.Answer, got.Needs)
		}
	}
}
