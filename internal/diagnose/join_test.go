package diagnose_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
	"github.com/unstall/unstall/internal/format/redisreply"
	"github.com/unstall/unstall/internal/present/sentence"
	"github.com/unstall/unstall/internal/present/text"
)

// redisInfo is an answer to INFO at a second, of a server that runs KEYS for some ms twice a second.
func redisInfo(s, ms int) string {
	n := 1000 + s
	return fmt.Sprintf("# Server\nredis_version:7.0.15\nprocess_id:9\ntcp_port:6379\nserver_time_usec:%d\nuptime_in_seconds:%d\n# Stats\ntotal_commands_processed:%d\nused_cpu_user_main_thread:%d.0\nused_cpu_sys_main_thread:0.1\nconnected_clients:20\n"+
		"maxmemory:0\nused_memory:1000000\naof_enabled:0\ntotal_connections_received:30\ntotal_net_input_bytes:%d\ntotal_net_output_bytes:%d\nclient_recent_max_input_buffer:20\ncmdstat_get:calls=%d,usec=%d,usec_per_call=2.00\ncmdstat_keys:calls=%d,usec=%d\n",
		(1_795_423_700+int64(s))*1e6, n, 2000*n, n/10, 1000*n, 1000*n, 1900*n, 3800*n, 2*n, 2*n*ms*1000)
}

// waiting is a service some of whose requests wait long for what is at an address, and the server there.
func waiting(t *testing.T, address string, ms int) *diagnose.Diagnosis {
	t.Helper()
	const began = 1_795_423_700e9
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "trace.out"}), "gotrace")
	s := p.Subject(evidence.Subject{Name: "shop", PID: 7, Runtime: "go"})
	for i := range int64(900) {
		wait := int64(2e6)
		if i%5 == 0 {
			wait = 180e6
		}
		path := evidence.Path(nil).Append(evidence.Segment{Kind: evidence.Running, Dur: 1e6}).Append(evidence.Segment{Kind: evidence.NetWait, Dur: wait, Cause: p.Name(address)})
		at := began + i*30e6
		p.Request(evidence.Request{Subject: s, Lane: evidence.LaneID(i%50 + 1), Route: p.Name("GET /cart"), Start: at, End: at + 1e6 + wait, Path: path})
	}
	p.Cover(evidence.Coverage{Subject: s, Kind: evidence.CoverRequests, From: began, Until: began + 28e9})
	p.Close()
	const clients = "id=5 addr=/run/redis.sock:0 laddr=/run/redis.sock:0 name= age=2 idle=0 flags=U db=0 cmd=get\n"
	for i, text := range []string{redisInfo(0, ms), redisInfo(28, ms), clients} {
		if err := format.Read(context.Background(), []format.Format{redisreply.Format}, formattest.Artifact(fmt.Sprint(i), []byte(text)), b); err != nil {
			t.Fatal(err)
		}
	}
	d, err := diagnose.Run(context.Background(), b, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// What a service waits for and what the server does that it waits for are one report.
func TestJoin(t *testing.T) {
	for _, at := range []string{"10.0.0.9:6379", "unix:/run/redis.sock"} {
		testJoin(t, waiting(t, at, 150))
	}
}

func testJoin(t *testing.T, d *diagnose.Diagnosis) {
	t.Helper()
	if len(d.Verdicts) < 2 || d.Verdicts[0].Cause != "service.dependency-slow" || d.Verdicts[1].Cause != "redis.slow-command" {
		t.Fatalf("%+v", d.Verdicts)
	}
	v, x := d.Verdicts[0], d.Verdicts[1]
	if !strings.HasPrefix(v.Title, "Requests wait ") || !strings.HasSuffix(v.Title, " for Redis; Redis spends it in KEYS.") || len(v.Fix) < 2 || !strings.Contains(v.Fix[0].Text, "SCAN") {
		t.Errorf("%q, %+v", v.Title, v.Fix)
	}
	if v.Root == nil || *v.Root != (diagnose.Link{Cause: x.Cause, Subject: x.Subject}) || x.Root != nil {
		t.Errorf("the root of %s is %v", v.Cause, v.Root)
	}
	if state := sentence.State(d); state != "cause found" {
		t.Errorf("one chain is told as %q", state)
	}
	var b strings.Builder
	if err := (text.Options{}).Report(&b, d); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), strings.Split(x.Fix[0].Text, " ")[0]+" "+strings.Split(x.Fix[0].Text, " ")[1]); n != 1 || strings.Contains(b.String(), "FIX 2") {
		t.Errorf("the fix is told %d times:\n%s", n, b.String())
	}
	if x.Saves == nil || *x.Saves != *v.Saves || !strings.Contains(x.Title, "shop") {
		t.Errorf("%+v", x)
	}
}

// Another server is another report, and one that is well is said to be.
func TestJoinNothing(t *testing.T) {
	d := waiting(t, "10.0.0.9:5432", 150)
	for _, v := range d.Verdicts {
		if v.Cause == "service.dependency-slow" && strings.Contains(v.Title, "KEYS") {
			t.Errorf("%q", v.Title)
		}
	}
	d = waiting(t, "10.0.0.9:6379", 1)
	if v := d.Verdicts[0]; v.Cause != "service.dependency-slow" || v.Verdict != check.Supported || strings.Contains(v.Title, "spends") {
		t.Errorf("%+v", v)
	}
}
