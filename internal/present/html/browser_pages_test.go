package html

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/timeline"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

// recorded are the diagnoses of a recorded incident: a gateway that was sick, and
// the same after the fix.
var recorded = map[string]func() (*diagnose.Diagnosis, error){
	"sick":  sync.OnceValues(func() (*diagnose.Diagnosis, error) { return diagnosisOf("../../../lab/go-ballast/recorded/sick") }),
	"fixed": sync.OnceValues(func() (*diagnose.Diagnosis, error) { return diagnosisOf("../../../lab/go-ballast/recorded/fixed") }),
}

func diagnosisOf(folder string) (*diagnose.Diagnosis, error) {
	b := incident.NewBundle()
	for _, name := range []string{"access.log.gz", "cpu.pb.gz", "gctrace.log", "trace.out.gz"} {
		if err := format.Read(context.Background(), all.Formats, format.File(filepath.Join(folder, name)), b); err != nil {
			return nil, err
		}
	}
	return diagnose.Run(context.Background(), b, diagnose.Options{Version: "test"})
}

func diagnosis(t testing.TB, name string) *diagnose.Diagnosis {
	t.Helper()
	d, err := recorded[name]()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// drawn is a part of a page that is only pictures.
type drawn struct{ *timeline.Timeline }

func (p drawn) addTo(doc *document) error {
	v := &diagnosisView{N: doc.diagnoses, H: 2, Sub: 3, State: "pictures", Nothing: "Only pictures.", Tone: "plain", NoRequests: "none", AddRequests: "true"}
	doc.diagnoses++
	doc.Head = v
	if err := doc.addTimeline(v.N, p.Timeline); err != nil {
		return err
	}
	v.Views = listPictures(p.Timeline, v.N, v.H)
	if p.Timeline != nil {
		v.RouteHead = []string{"", "slow"}
		for _, r := range p.Routes {
			v.Routes = append(v.Routes, routeView{r.Name, true, []string{r.Name, strconv.Itoa(r.Slow)}})
		}
	}
	v.Where = &whereView{N: v.N, H: v.H, Title: "Where it went"}
	doc.Parts = append(doc.Parts, partView{Diagnosis: v})
	return nil
}

// save writes a page to a file.
func save(t testing.TB, parts ...Part) string {
	t.Helper()
	return savePage(t, Page{Title: "test", Version: "test", Parts: parts})
}

func savePage(t testing.TB, p Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report of #1 %41.html") // a name that a URL must escape
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// begin is when synthetic recordings begin.
const begin = int64(1_795_000_000_000_000_000)

// many returns a time line of n requests over a minute, of which a few are very slow,
// and as many intervals in bands.
func many(n, intervals int) *timeline.Timeline {
	const span = int64(60e9)
	r := rand.New(rand.NewPCG(1, 2))
	t := &timeline.Timeline{Subject: "synthetic", From: begin, To: begin + span, Anchored: true, Threshold: 20e6}
	p := timeline.Points{
		Source: "requests", Count: n, Routes: []string{"", "GET /a", "GET /b"},
		At: make([]int64, n), Latency: make([]int64, n), Route: make([]uint16, n), Flags: make([]timeline.Flags, n), Detail: make([]int32, n),
	}
	for i := range n {
		p.At[i] = begin + int64(float64(i)/float64(n)*float64(span))
		p.Latency[i] = int64(1e6 * (0.5 + r.ExpFloat64()))
		p.Route[i] = uint16(1 + r.IntN(2))
	}
	for k := range min(20, n) { // one alone is the slowest
		i := (2*k + 1) * n / 41
		p.Latency[i] = int64(30e6 + float64(k)*1e6)
		if k == 13 {
			p.Latency[i] = 1_234_567_890
		}
		p.Flags[i] = timeline.Slow | timeline.Traced
		t.Slow = append(t.Slow, timeline.Request{
			Source: "requests", Route: p.Routes[p.Route[i]], Lane: int64(100 + k), At: p.At[i], Latency: p.Latency[i],
			States: []timeline.State{
				{At: p.At[i], Dur: p.Latency[i] / 4, Kind: "runnable", Mechanism: "collector_cpu", Holder: "goroutine 7: mark worker"},
				{At: p.At[i] + p.Latency[i]/4, Dur: p.Latency[i] - p.Latency[i]/4, Kind: "running", Mechanism: "own", Where: "main.handle"},
			},
		})
	}
	slices.SortStableFunc(t.Slow, func(a, b timeline.Request) int { return int(b.Latency - a.Latency) })
	for k, s := range t.Slow {
		i, _ := slices.BinarySearch(p.At, s.At)
		p.Detail[i] = int32(k + 1)
	}
	for _, name := range p.Routes[1:] {
		r := timeline.Route{Name: name, Parts: []timeline.Part{{Mechanism: "collector_cpu"}, {Mechanism: "own"}}}
		for _, s := range t.Slow {
			if s.Route == name {
				r.Slow, r.Time = r.Slow+1, r.Time+s.Latency
				r.Parts[0].Dur, r.Parts[1].Dur = r.Parts[0].Dur+s.States[0].Dur, r.Parts[1].Dur+s.States[1].Dur
			}
		}
		t.Routes = append(t.Routes, r)
	}
	t.Requests = []timeline.Points{p}
	for b, id := range []string{"gc-mark", "stop-the-world", "cpu-throttled", "host-stall"} {
		band := timeline.Band{ID: id, Title: id, Source: "intervals"}
		count := intervals / 4
		for i := range count {
			at := begin + int64(float64(i)/float64(count)*float64(span))
			band.From = append(band.From, at)
			band.To = append(band.To, at+int64(r.Float64()*float64(span)/float64(count)/float64(1+b)))
		}
		t.Bands = append(t.Bands, band)
	}
	if n > 0 {
		curve := timeline.Curve{ID: "user", Title: "user", Source: "samples"}
		for i := range 600 {
			curve.T = append(curve.T, begin+int64(i)*span/600)
			curve.V = append(curve.V, r.Float64())
		}
		t.Charts = []timeline.Chart{{ID: "cpu", Title: "CPU", Unit: "cores", Stacked: true, Curves: []timeline.Curve{curve}}}
	}
	return t
}

// hostile is text that tries to become markup, script, style, a template or the end of what
// holds it.
const hostile = `"'></script></style></title></textarea>--><script>window.__pwned=1</script><img src=x onerror="window.__pwned=2"><svg/onload=window.__pwned=3><a href="javascript:window.__pwned=4">x</a>` +
	"\u202e\u2028\x00\x1b[31m{{.}}${window.__pwned=5}<!--<script>&lt;b&gt;`"

// own are the fields whose texts are always the tool's own.
var own = []string{"Schema", "RankedBy", "Verdict", "Mechanism", "Unit", "ID", "Result", "SlowRule", "LatencyFrom", "Mode", "Basis", "Kind"}

// taint adds hostile text to every text that input can influence.
func taint(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			taint(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			taint(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !slices.Contains(own, f.Name) {
				taint(v.Field(i))
			}
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(v.String() + hostile)
		}
	}
}

// tainted returns a diagnosis and its time line with hostile text in everything.
func tainted(t testing.TB) (*diagnose.Diagnosis, *timeline.Timeline) {
	t.Helper()
	d := diagnosis(t, "sick")
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	copied := new(diagnose.Diagnosis)
	if err := json.Unmarshal(b, copied); err != nil {
		t.Fatal(err)
	}
	taint(reflect.ValueOf(copied))
	line := d.Timeline()
	if line == nil {
		t.Fatal("the diagnosis has no time line")
	}
	b, err = json.Marshal(line.Slow[:10])
	if err != nil {
		t.Fatal(err)
	}
	few := *line // not the diagnosis' own
	few.Slow, few.Typical, few.Processors = nil, nil, nil
	if err := json.Unmarshal(b, &few.Slow); err != nil {
		t.Fatal(err)
	}
	few.Bands, few.Charts, few.Flames = slices.Clone(line.Bands), slices.Clone(line.Charts), slices.Clone(line.Flames)
	for i := range few.Bands {
		few.Bands[i].Text = slices.Clone(few.Bands[i].Text)
	}
	for i := range few.Charts {
		few.Charts[i].Curves = slices.Clone(few.Charts[i].Curves)
	}
	for i := range few.Flames {
		few.Flames[i].Nodes = slices.Clone(few.Flames[i].Nodes)
	}
	few.Omitted = slices.Clone(line.Omitted)
	few.Requests = slices.Clone(line.Requests)
	for i := range few.Requests {
		few.Requests[i].Routes = slices.Clone(few.Requests[i].Routes)
		few.Requests[i].Detail = slices.Clone(few.Requests[i].Detail)
		for k, n := range few.Requests[i].Detail {
			if int(n) > len(few.Slow) {
				few.Requests[i].Detail[k] = 0
			}
		}
	}
	taint(reflect.ValueOf(&few))
	return copied, &few
}

// text returns the visible text of an element.
func (p *tab) text(selector string) string {
	p.t.Helper()
	return strings.Join(strings.Fields(eval[string](p, `[...document.querySelectorAll(%s)].map(e => e.innerText).join(" ")`, selector)), " ")
}

// report returns the JavaScript expression for the pictures of diagnosis n.
func report(n int) string { return "window.unstall.reports[" + strconv.Itoa(n) + "]" }
