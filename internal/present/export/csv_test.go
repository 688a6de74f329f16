package export

import (
	"bytes"
	"encoding/csv"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/base/evidence"
)

// table reads a CSV export: rows by column name.
func table(t *testing.T, data []byte) (out []map[string]string) {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(data))
	all, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range all[1:] {
		m := make(map[string]string)
		for i, name := range all[0] {
			m[name] = row[i]
		}
		out = append(out, m)
	}
	return out
}

// nanoseconds reads a cell in ms without floating point.
func nanoseconds(t *testing.T, cell string) int64 {
	t.Helper()
	whole, part, _ := strings.Cut(cell, ".")
	n, err := strconv.ParseInt(whole+(part + "000000")[:6], 10, 64)
	if err != nil || len(part) > 6 {
		t.Fatalf("%q is no time in ms", cell)
	}
	return n
}

func TestRequestsSum(t *testing.T) {
	s := recorded(t, Options{})
	l := s.tracedLedgers()[0]
	var slow, traced, bare int
	var total int64
	var byMechanism ledger.Charges
	for _, row := range table(t, exported(t, s, "csv", "requests")) {
		latency := nanoseconds(t, row["latency_ms"])
		began, err := time.Parse(time.RFC3339Nano, row["began"])
		if err != nil || strconv.FormatInt(began.UnixNano(), 10) != row["began_ns"] {
			t.Fatalf("began %s is not %s ns", row["began"], row["began_ns"])
		}
		if row["counted"] != strconv.FormatBool(row["method"] != "") {
			t.Fatalf("%s: counted %q, method %q", row["origin"], row["counted"], row["method"])
		}
		if row["method"] == "" {
			bare++
			for m := range ledger.NumMechanisms {
				if cell := row[m.String()+"_ms"]; cell != "" {
					t.Fatalf("%s: nobody charged it, yet %s is %q", row["origin"], m, cell)
				}
			}
			if row["slow"] != "" || row["source"] != "trace.out.gz" {
				t.Fatalf("%v", row)
			}
			continue
		}
		traced++
		var sum int64
		for m := range ledger.NumMechanisms {
			ns := nanoseconds(t, row[m.String()+"_ms"])
			sum += ns
			if row["slow"] == "true" {
				byMechanism[m] += ns
			}
		}
		if sum != latency {
			t.Fatalf("%s: mechanisms sum to %d ns, latency is %d", row["origin"], sum, latency)
		}
		if row["slow"] == "true" {
			slow++
			total += latency
		}
	}
	if traced != len(l.Rows) || slow != len(l.Slow) || total != l.Total || byMechanism != l.Charges {
		t.Errorf("%d traced, %d slow of %d ns; the ledger has %d, %d, %d", traced, slow, total, len(l.Rows), len(l.Slow), l.Total)
	}
	if bare == 0 || bare+traced != s.Bundle.Requests.Len() {
		t.Errorf("%d + %d rows of %d requests", bare, traced, s.Bundle.Requests.Len())
	}
}

func TestMilliseconds(t *testing.T) {
	for ns, want := range map[int64]string{0: "0", 1: "0.000001", 999_999: "0.999999", 1e6: "1", 1_500_000: "1.5", 123_456_789: "123.456789", -2_000_001: "-2.000001", -5: "-0.000005", -1e6: "-1", 60e9: "60000"} {
		if got := formatMilliseconds(ns); got != want {
			t.Errorf("milliseconds(%d) = %q, want %q", ns, got, want)
		}
	}
	for range 1000 {
		ns := rand.Int64()
		if got := nanoseconds(t, formatMilliseconds(ns)); got != ns {
			t.Fatalf("%d ns came back as %d", ns, got)
		}
	}
}

// However many requests there are, a table takes no memory for each.
func TestRequestsStream(t *testing.T) {
	few, many := many(100), many(20_000)
	allocs := func(s *Source) float64 {
		write, err := csvTable(s, "requests")
		if err != nil {
			t.Fatal(err)
		}
		var n counted
		return testing.AllocsPerRun(1, func() {
			if err := write(&n); err != nil {
				t.Fatal(err)
			}
		})
	}
	perRow := (allocs(many) - allocs(few)) / 19_900
	if perRow > 12 {
		t.Errorf("%.1f allocations a row", perRow)
	}
	s := many
	write, _ := csvTable(s, "requests")
	first := &firstBytes{}
	if err := write(first); err != nil || first.largest > 1<<16 {
		t.Errorf("%v, %d bytes in one write: it is not streamed", err, first.largest)
	}
}

type firstBytes struct{ largest int }

func (f *firstBytes) Write(p []byte) (int, error) {
	f.largest = max(f.largest, len(p))
	return len(p), nil
}

// many returns a log of n requests.
func many(n int) *Source {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "access.log"}), "accesslog")
	id := p.Subject(evidence.Subject{Name: "gateway"})
	for i := range n {
		at := int64(1795231082e9) + int64(i)*1e6
		p.Request(evidence.Request{Subject: id, Route: p.Name("GET /"), Start: at, End: at + 3e6 + int64(i%7)*1e5, Origin: p.Origin(int64(i + 1))})
	}
	p.Cover(evidence.Coverage{Subject: id, Kind: evidence.CoverRequests, From: 1795231082e9, Until: 1795231082e9 + int64(n)*1e6})
	p.Close()
	return Of(b, Options{})
}

var hostile = []string{
	`=cmd|' /C calc'!A0`, "+1", "-1", "@SUM(A1)", "a,b;c", "he said \"no\"", "two\nlines", "carriage\rreturn", "tab\there", `</script><img src=x onerror=alert(1)>`,
	" leading", "NUL\x00", "bad \xff\xfe utf-8", "\u202eright to left", strings.Repeat("long", 5000), `\N`, `\.`, "'single'", "{\"json\":1}",
}

// strange returns a trace whose request names try to inject code into the reader's program.
func strange() *Source {
	b := evidence.NewBundle()
	p := b.Builder(b.AddArtifact(evidence.Artifact{Name: "a,\"b\"\n.log"}), "test")
	id := p.Subject(evidence.Subject{Name: "=evil()", Runtime: "go"})
	at := int64(1795231082e9)
	for i := range 40 {
		name := hostile[i%len(hostile)]
		stack := p.Stack([]evidence.Frame{{Func: p.Name("leaf " + name), File: p.Name("/src/" + name), Line: 7}, {Func: p.Name("main.serve")}})
		var path evidence.Path
		path = path.Append(evidence.Segment{Kind: evidence.Running, Dur: 1e6, Stack: stack})
		path = path.Append(evidence.Segment{Kind: evidence.LockWait, Dur: 3e6 + int64(i)*1e6, Stack: stack, Cause: p.Name("mutex in " + name), Holder: 71, HolderKind: evidence.GCAssist})
		start := at + int64(i)*10e6
		p.Request(evidence.Request{Subject: id, Route: p.Name(name), Lane: 5, Start: start, End: start + 4e6 + int64(i)*1e6, Path: path, Origin: p.Origin(int64(i + 1))})
		p.Sample(evidence.Sample{Subject: id, Stack: stack, Type: p.Name("cpu"), Unit: p.Name("nanoseconds"), Value: 10e6, Class: p.Name(name), Origin: p.Origin(int64(i + 1))})
		p.Interval(evidence.Interval{Subject: id, Lane: evidence.AllLanes, Kind: evidence.StopTheWorld, Start: start, End: start + 1e5, Cause: p.Name(name), Origin: p.Origin(int64(i + 1))})
		p.Series(evidence.Series{Subject: id, Name: name, Unit: name, T: []int64{start}, V: []float64{1}, Origin: p.Origin(1)})
	}
	p.Fact(evidence.Fact{Subject: id, Key: "profile.kind", Value: "cpu", From: at, Until: at + 1e9, Origin: p.Origin(0)})
	p.Cover(evidence.Coverage{Subject: id, Kind: evidence.CoverStates, From: at, Until: at + 1e9})
	p.Close()
	return Of(b, Options{SLO: 5 * time.Millisecond})
}

// TestHostileCSV checks that names are data: they are read back unchanged.
func TestHostileCSV(t *testing.T) {
	s := strange()
	got := table(t, exported(t, s, "csv", "requests"))
	if len(got) != 40 {
		t.Fatalf("%d rows", len(got))
	}
	for i, row := range got {
		want := hostile[i%len(hostile)]
		if row["route"] != want || row["process"] != "=evil()" || row["source"] != "a,\"b\"\n.log" {
			t.Errorf("%q came back as %q", want, row["route"])
		}
	}
	for i, row := range table(t, exported(t, s, "csv", "intervals")) {
		if want := hostile[i%len(hostile)]; row["cause"] != want || row["lane"] != "" {
			t.Errorf("%q came back as %q", want, row["cause"])
		}
	}
	for i, row := range table(t, exported(t, s, "csv", "series")) {
		if want := hostile[i%len(hostile)]; row["name"] != want || row["unit"] != want {
			t.Errorf("%q came back as %q", want, row["name"])
		}
	}
}
