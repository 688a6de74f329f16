package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/exp/trace"

	"github.com/unstall/unstall/lab/loadgen"
	"github.com/unstall/unstall/lab/process"
)

// TestLive builds every service, runs every mode of it with 50 requests, and
// checks that each is in the counts, in the access log and in a whole trace.
func TestLive(t *testing.T) {
	t.Chdir("../..")
	b := &builder{dir: t.TempDir(), done: map[string]string{}}
	gateway, item := gatewayRoutes, itemPaths(10)
	for name, r := range map[string]recording{
		"gateway":           {program: "go-ballast/gateway", args: []string{"-live=2", "-garbage=64"}, load: loadgen.Plan{Paths: gateway, Tokens: 100}},
		"gateway, ballast":  {program: "go-ballast/gateway", args: []string{"-live=2", "-ballast=64", "-pretouch=8"}, load: loadgen.Plan{Paths: gateway, Tokens: 100}},
		"gateway, tcp":      {program: "go-ballast/gateway", args: []string{"-live=2", "-session-store={resp}"}, load: loadgen.Plan{Paths: gateway, Tokens: 100}},
		"gateway, http":     {program: "go-ballast/gateway", args: []string{"-live=2", "-upstream={http}"}, load: loadgen.Plan{Paths: gateway, Tokens: 100}},
		"compute":           {program: "gosvc", args: []string{"-mode=compute", "-work=50us"}, load: loadgen.Plan{Paths: item}},
		"lock":              {program: "gosvc", args: []string{"-mode=lock", "-work=50us"}, load: loadgen.Plan{Paths: item}},
		"lock, sick":        {program: "gosvc", args: []string{"-mode=lock", "-work=50us", "-sick"}, load: loadgen.Plan{Paths: item}},
		"refresh, sick":     {program: "gosvc", args: []string{"-mode=refresh", "-work=50us", "-sick"}, load: loadgen.Plan{Paths: item}},
		"leak":              {program: "gosvc", args: []string{"-mode=leak", "-dependency={resp}"}, load: loadgen.Plan{Paths: item}},
		"leak, sick":        {program: "gosvc", args: []string{"-mode=leak", "-dependency={resp}", "-sick"}, load: loadgen.Plan{Paths: item}},
		"call, http":        {program: "gosvc", args: []string{"-mode=call", "-via=http", "-dependency={http}"}, load: loadgen.Plan{Paths: item}},
		"call, tcp":         {program: "gosvc", args: []string{"-mode=call", "-via=tcp", "-dependency={resp}"}, load: loadgen.Plan{Paths: item}},
		"pool, sql, sick":   {program: "gosvc", args: []string{"-mode=pool", "-via=sql", "-dependency={resp}", "-sick"}, load: loadgen.Plan{Paths: item}},
		"pool, permits":     {program: "gosvc", args: []string{"-mode=pool", "-via=semaphore", "-dependency={resp}"}, load: loadgen.Plan{Paths: item}},
		"compute, burn":     {program: "gosvc", args: []string{"-mode=compute", "-work=50us"}, load: loadgen.Plan{Paths: item}, neighbours: [][]string{{"-for=1ms", "-every=1s"}}},
		"compute, quota":    {program: "gosvc", args: []string{"-mode=compute", "-work=50us"}, load: loadgen.Plan{Paths: item}, quota: .5, procfs: 10 * ms},
		"compute, profiles": {program: "gosvc", args: []string{"-mode=compute", "-work=50us"}, load: loadgen.Plan{Paths: item}, profiles: []string{"goroutine", "mutex"}},
	} {
		t.Run(name, func(t *testing.T) {
			r.whole, r.gctrace, r.load.Requests, r.load.Connections = true, true, 50, 8
			r.dependency = []string{"-delay=100us"}
			tmp := t.TempDir()
			truth, err := recordService(t.Context(), b, r, tmp, func(string) {})
			if errors.Is(err, process.ErrNoQuota) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if l := truth.Load; l.Finished != 50 || l.Failed != 0 {
				t.Errorf("of 50 requests %d were answered, %d of them with an error", l.Finished, l.Failed)
			}
			if !truth.Trace.Exact || truth.Trace.totalFinished() != 50 {
				t.Errorf("the service finished %d of 50 requests in the trace, under way at its ends %v", truth.Trace.totalFinished(), truth.Trace.UnderWay)
			}
			log, err := os.ReadFile(filepath.Join(tmp, "access.log"))
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(log, []byte("\n")); n != 50 {
				t.Errorf("the access log has %d lines", n)
			}
			if n := traceEvents(t, filepath.Join(tmp, "trace.out")); n < 50 {
				t.Errorf("the trace has %d events", n)
			}
		})
	}
}

func traceEvents(t *testing.T, path string) (n int) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := trace.NewReader(bufio.NewReader(f))
	if err != nil {
		t.Fatal(err)
	}
	for {
		switch _, err := r.ReadEvent(); {
		case errors.Is(err, io.EOF):
			return n
		case err != nil:
			t.Fatal(err)
		}
		n++
	}
}

func TestCatalogue(t *testing.T) {
	place := map[string]string{}
	twins := map[string][2]int{} // sick, healthy
	for _, r := range allRecordings() {
		at := filepath.Join(r.dir, r.flat)
		if other := place[at]; other != "" {
			t.Errorf("%s and %s go to the same place", other, r.id)
		}
		place[at] = r.id
		for _, b := range r.expect {
			if metrics[b.metric] == nil {
				t.Errorf("%s expects %q, which is no metric", r.id, b.metric)
			}
		}
		if id, kind, _ := strings.Cut(strings.TrimPrefix(r.dir, "internal/diagnose/check/testdata/"), "/"); strings.HasPrefix(r.dir, "internal/diagnose/check/testdata/") {
			n := twins[id]
			if strings.HasPrefix(kind, "sick") {
				n[0]++
			} else if strings.HasPrefix(kind, "healthy") {
				n[1]++
			}
			twins[id] = n
		}
	}
	for id, n := range twins {
		if n[0] == 0 || n[1] == 0 {
			t.Errorf("%s has %d sick and %d healthy recordings", id, n[0], n[1])
		}
	}
}

// mostShipped is how many bytes the recordings of all causes may take: every clone has them.
const mostShipped = 16 << 20

// TestShipped checks that the recordings in the repository are those their
// truth.json describes, that all are there, and that they stay small.
func TestShipped(t *testing.T) {
	t.Chdir("../..")
	var sum int64
	for _, r := range allRecordings() {
		b, err := os.ReadFile(filepath.Join(r.dir, "truth.json"))
		if err != nil {
			t.Errorf("%s: %v: go run ./dev/recorder one %s", r.id, err, r.id)
			continue
		}
		var known truth
		if r.flat != "" {
			var all map[string]json.RawMessage
			if err := json.Unmarshal(b, &all); err != nil {
				t.Fatal(r.id, err)
			}
			b = all[r.flat]
		}
		if b == nil {
			continue // recorded with another build of that toolchain than the one here
		}
		if err := json.Unmarshal(b, &known); err != nil {
			t.Fatal(r.id, err)
		}
		for name, size := range known.Artifacts {
			fi, err := os.Stat(filepath.Join(r.dir, name))
			if err != nil {
				t.Error(err)
			} else if fi.Size() != size {
				t.Errorf("%s/%s has %d bytes, recorded were %d", r.dir, name, fi.Size(), size)
			}
			if strings.HasPrefix(r.dir, "internal/diagnose/check/") {
				sum += size
			}
		}
	}
	if sum > mostShipped {
		t.Errorf("the causes' recordings take %d bytes", sum)
	}
}

func TestCollectorShare(t *testing.T) {
	for kind, want := range map[string][2]float64{"sick": {.3, .9}, "fixed": {0, .2}} {
		got, err := collectorShare("../../lab/go-ballast/recorded/" + kind + "/cpu.pb.gz")
		if err != nil {
			t.Fatal(err)
		}
		if got < want[0] || got > want[1] {
			t.Errorf("%s: the collector took %.2f of the CPU, expected %v", kind, got, want)
		}
	}
}

func TestChoose(t *testing.T) {
	all := []recording{{id: "a/sick"}, {id: "a/healthy"}, {id: "b/sick"}}
	for args, want := range map[string]string{
		"all":          "a/sick a/healthy b/sick",
		"one b/sick":   "b/sick",
		"one a/":       "a/sick a/healthy",
		"one a/ b/":    "a/sick a/healthy b/sick",
		"one c/sick":   "c/sick: no such recording; see: go run ./dev/recorder list",
		"one":          "one: no name given; see: go run ./dev/recorder list",
		"every":        "every: not a command; use list, one or all",
		"one a/health": "a/health: no such recording; see: go run ./dev/recorder list",
	} {
		chosen, err := chooseRecordings(all, strings.Fields(args))
		var got []string
		for _, r := range chosen {
			got = append(got, r.id)
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
}
