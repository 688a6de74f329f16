package html

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/ledger"
	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/timeline"
	"github.com/unstall/unstall/internal/operate/compare"
	"github.com/unstall/unstall/internal/present/html/app"
)

// attack is a name that an attacker chose.
const attack = "</script><img src=x onerror=alert(1)>\x1b[31m\u202e<!--"

func written(t *testing.T, parts ...Part) string {
	t.Helper()
	var b bytes.Buffer
	if err := (Page{Title: attack, Strip: []string{attack}, Version: attack, Repeat: []string{attack}, Parts: parts}).Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// timed is the pictures of a timeline without its diagnosis.
type timed struct{ t *timeline.Timeline }

func (p timed) addTo(doc *document) error {
	v := &diagnosisView{N: doc.diagnoses, Top: 1, Below: 2, H: 2, Sub: 3, State: attack, Nothing: attack, Views: listPictures(p.t, doc.diagnoses, 2)}
	doc.Head = v
	doc.Parts = append(doc.Parts, partView{Diagnosis: v})
	return doc.addTimeline(v.N, p.t)
}

func attacked() *diagnose.Diagnosis {
	n, v := 1, 1.
	s := attack
	evidence := diagnose.Evidence{Text: attack, Value: &v, Unit: attack, Origin: attack}
	verdict := diagnose.Verdict{Cause: attack, Subject: attack, Verdict: "supported", Title: attack, Summary: attack, Evidence: []diagnose.Evidence{evidence},
		Needs: []diagnose.Need{{What: attack, Command: "curl -o " + attack}}, Fix: []diagnose.Fix{{Text: attack, Setting: attack, Code: attack}, {Text: attack}},
		Saves: &diagnose.Saves{Value: 1, Basis: &s}, Prediction: []diagnose.Prediction{{Metric: attack, Unit: attack, Now: &v, Then: &v, Low: &v, High: &v}}}
	open, out := verdict, verdict
	open.Verdict, out.Verdict = "inconclusive", "ruled_out"
	target := diagnose.Target{ID: attack, Kind: "process", PID: &n, Name: attack, Runtime: attack, Version: attack, Container: attack}
	return &diagnose.Diagnosis{ToolVersion: attack, Targets: []diagnose.Target{target, target},
		Coverage: []diagnose.Coverage{{Subject: attack, Kind: attack, Seconds: 1, Lost: 3}},
		Requests: &diagnose.Requests{Source: attack, LedgerSource: attack + "2", Count: 9, Slow: 3, SlowRule: attack, SlowTotalMs: 2},
		Loads:    []diagnose.Load{{Source: attack, Tool: attack, Mode: attack}},
		Ledger:   []diagnose.Entry{{Subject: attack, Mechanism: attack, Title: attack, Detail: attack, SlowMs: 1, Method: attack}, {Subject: "b", Mechanism: "lock", Detail: attack, SlowMs: 1}},
		Verdicts: []diagnose.Verdict{verdict, verdict, open, out}, Warnings: []diagnose.Warning{{Text: attack, Count: 2, Origin: attack}},
		NotSeen: []diagnose.NotSeen{{What: attack, Why: attack, Do: attack}}, Sources: []diagnose.Source{{Name: attack, Formats: []string{attack}}}}
}

func attackedTimeline() *timeline.Timeline {
	return &timeline.Timeline{Subject: attack, To: 1e9, Omitted: []string{attack},
		Requests: []timeline.Points{{Source: attack, Count: 1, Routes: []string{attack}, At: []int64{1}, Latency: []int64{5}, Route: []uint16{0}, Flags: []timeline.Flags{timeline.Slow}, Detail: []int32{1}}},
		Bands:    []timeline.Band{{ID: attack, Title: attack, Source: attack, From: []int64{1}, To: []int64{2}, Text: []string{attack}}},
		Charts:   []timeline.Chart{{ID: attack, Title: attack, Unit: attack, Curves: []timeline.Curve{{ID: attack, Title: attack, Source: attack, T: []int64{1}, V: []float64{1}}}}},
		Slow: []timeline.Request{{Source: attack, Origin: attack, Route: attack, At: 1, Latency: 5, Outcome: attack,
			States: []timeline.State{{At: 1, Dur: 5, Kind: attack, Mechanism: attack, What: attack, Where: attack, Holder: attack}}}},
		Processors: []timeline.Processors{{Source: attack, To: 9, Lanes: []timeline.Lane{{Name: attack, Spans: []timeline.Span{{To: 9, Name: attack}}}}}},
		Flames:     []timeline.Flame{{ID: attack, Title: attack, Unit: attack, Total: 1, Nodes: []timeline.Node{{Parent: -1, Name: attack, Kind: attack, Value: 1}}}}}
}

func predicted() *model.Answer {
	values := func(size, cost float64) []model.Estimate {
		return []model.Estimate{model.Exactly(size), model.Exactly(cost)}
	}
	effect := model.Effect{Title: attack, Unit: attack, Now: model.Exactly(1), Then: model.Between(2, 1, 3)}
	return &model.Answer{Subject: attack, ToolVersion: attack, Source: attack, Basis: []string{attack}, Notes: []string{attack},
		Lead: model.Lead{Of: attack, Text: attack, Setting: true, Why: attack, Effects: []model.Effect{effect}},
		Rows: []model.Row{{Text: attack, At: values(200<<20, .3), Effects: []model.Effect{effect}, Facts: model.Cautions(attack)}},
		Frontier: &model.Frontier{Title: attack, How: attack, Brief: attack, Text: attack, Caption: attack, Knee: 1, Facts: model.Facts(attack, attack),
			Columns: []model.Column{{Title: attack, Unit: "bytes"}, {Title: attack, Short: attack, Unit: attack, Drawn: true}},
			Points:  []model.Point{{Text: attack, Values: values(100<<20, .5)}, {Text: attack, Values: values(400<<20, .1)}}}}
}

// A setting that was asked for is in the picture, beside today's and the knee.
func TestPredictionIsDrawn(t *testing.T) {
	got := written(t, Predicted{predicted()})
	for _, want := range []string{">now</text>", ">then</text>", ">knee</text>", `<h1 class="headline">`, `<section id="setting-1"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	a := predicted()
	a.Rows[0].At[0] = model.Exactly(101 << 20) // so near that the names would touch
	if got := written(t, Predicted{a}); !strings.Contains(got, ">now, then</text>") {
		t.Error("the names overlap")
	}
	a.Frontier.Knee, a.Rows = -1, nil
	a.Lead = model.Lead{Of: "what memory buys", Text: "keep GOGC=100"}
	if got := written(t, Predicted{a}); !strings.Contains(got, "Keep GOGC=100") {
		t.Error("it does not say to keep the setting")
	}
}

// TestAddresses checks that names and addresses from outside lead only to where the page says.
func TestAddresses(t *testing.T) {
	d := attacked()
	d.Dashboard = "javascript:alert(1)"
	got := written(t, Diagnosed{Diagnosis: d}, Shelf{Query: "a&sort=b#c", Captures: []Shelved{{Name: "a?b#c%2f&d.unstall"}}, Pending: 1})
	for _, want := range []string{`<a href="/capture/a%3Fb%23c%252f&amp;d.unstall">`, `<a href="/?q=a%26sort%3db%23c&amp;sort=">`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in the page", want)
		}
	}
	if strings.Contains(got, "javascript:") {
		t.Error("the page has a link that runs a script")
	}
}

// TestEscapes checks that the page has only its own elements, whatever things are called.
func TestEscapes(t *testing.T) {
	c, err := compare.Compare([]compare.Run{{Name: attack, Warnings: []string{attack}, Metrics: map[string]float64{"p99_ms": 1}, Load: compare.Load{URL: attack}}},
		[]compare.Run{{Name: attack, Metrics: map[string]float64{"p99_ms": 2}, Load: compare.Load{URL: attack}}}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table := Table{Title: attack, How: attack, Columns: []Column{{Name: attack}, {Name: attack}}, Rows: [][]Cell{{{Text: attack}, {Text: attack, Class: attack, Code: true}}}}
	for name, parts := range map[string][]Part{
		"diagnosis":  {Diagnosed{Diagnosis: attacked(), After: []Link{{ID: attack, Title: attack}}}},
		"chapters":   {Diagnosed{Diagnosis: attacked()}, Diagnosed{Title: attack, Diagnosis: attacked()}},
		"comparison": {Compared{Title: attack, Comparison: c, Before: attacked(), After: attacked(), Lead: true}},
		"tables":     {Tables{table}},
		"prediction": {Predicted{predicted()}},
		"timeline":   {timed{attackedTimeline()}},
	} {
		t.Run(name, func(t *testing.T) {
			got := written(t, parts...)
			scripts := 1
			if name == "timeline" {
				scripts = 3 // the data and what draws it
			}
			if n := strings.Count(got, "<script"); n != scripts {
				t.Errorf("%d scripts begin, want %d", n, scripts)
			}
			if n := strings.Count(got, "</script"); n != scripts {
				t.Errorf("%d scripts end, want %d", n, scripts)
			}
			for _, never := range []string{"<img", "<!--", "\x1b", "\u202e"} {
				if at := strings.Index(got, never); at >= 0 {
					t.Errorf("%q is in the page: …%s…", never, got[max(0, at-80):at+20])
				}
			}
			for _, tag := range regexp.MustCompile(`<[a-zA-Z][^>]*`).FindAllString(withoutScripts(got), -1) {
				if regexp.MustCompile(`\son[a-z]+\s*=`).MatchString(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(tag, `""`)) {
					t.Errorf("an attribute that is a script: %s", tag)
				}
			}
		})
	}
}

func withoutScripts(s string) string {
	return regexp.MustCompile(`(?s)<(script|style)[^>]*>.*?</(script|style)>`).ReplaceAllString(s, "")
}

// The data of a page is JSON that reads back.
func TestDataReadsBack(t *testing.T) {
	got := written(t, timed{attackedTimeline()})
	m := regexp.MustCompile(`(?s)<script type="application/json" id="data-0"[^>]*>(.*?)</script>`).FindStringSubmatch(got)
	if m == nil {
		t.Fatal("no data in the page")
	}
	var payload struct {
		Subject string
		Strings []string
	}
	if err := json.Unmarshal([]byte(m[1]), &payload); err != nil {
		t.Fatal(err)
	}
	if want := strings.ReplaceAll(attack, "\u202e", "\ufffd"); payload.Subject != want {
		t.Errorf("subject %q, want %q", payload.Subject, want)
	}
}

// The policy names exactly the scripts and styles of the page, and nothing of it is
// fetched.
func TestPolicy(t *testing.T) {
	got := written(t, timed{attackedTimeline()})
	policy := strings.ReplaceAll(regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(got)[1], "&#39;", "'")
	policy = strings.ReplaceAll(policy, "&#43;", "+")
	if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
		t.Errorf("policy %q", policy)
	}
	elements := regexp.MustCompile(`(?s)<(?:style|script)>(.*?)</(?:style|script)>`).FindAllStringSubmatch(got, -1)
	if len(elements) != 4 {
		t.Fatalf("%d styles and scripts, want 4", len(elements))
	}
	for _, e := range elements {
		sum := sha256.Sum256([]byte(e[1]))
		if hash := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, hash) {
			t.Errorf("%s of %q… is not in the policy %q", hash, e[1][:40], policy)
		}
	}
	if m := regexp.MustCompile(`(?i)\s(?:src|srcset|action|data)="|<link [^>]*href="[^d]|@import|url\(["']?[^#"')]`).FindString(regexp.MustCompile(`(?s)<script[^>]*>.*?</script>`).ReplaceAllString(got, "")); m != "" {
		t.Errorf("the page fetches something: %q", m)
	}
	if regexp.MustCompile(`<[a-z][^>]*\sstyle=`).MatchString(withoutScripts(got)) {
		t.Error("a style attribute: the policy does not allow it")
	}
}

// Without data a page is below 1 MB with all its scripts.
func TestSize(t *testing.T) {
	if n := len(written(t, timed{attackedTimeline()})); n >= 1e6 {
		t.Errorf("%d bytes, want less than 1 MB", n)
	}
	if n := len(app.Script()); n < 10_000 {
		t.Errorf("%d bytes of script: it is not in the page", n)
	}
}

// Every mechanism and kind of work has its colours in both themes; text on them
// has a contrast of at least 4.5, all other text on every ground, too
// (https://www.w3.org/TR/WCAG22/#contrast-minimum).
func TestColours(t *testing.T) {
	light, dark, _ := strings.Cut(readPageFile("colours.css"), "/*dark*/")
	for name, css := range map[string]string{"light": light, "dark": light + dark} {
		colour := func(token string) string {
			t.Helper()
			for range 5 {
				all := regexp.MustCompile(regexp.QuoteMeta(token)+`: ([^;]+);`).FindAllStringSubmatch(css, -1)
				if len(all) == 0 {
					t.Fatalf("%s: no %s", name, token)
				}
				value := all[len(all)-1][1]
				if value[0] == '#' {
					return value
				}
				token = strings.TrimSuffix(strings.TrimPrefix(value, "var("), ")")
			}
			t.Fatalf("%s: %s is no colour", name, token)
			return ""
		}
		check := func(ground, text string) {
			t.Helper()
			if c := contrast(colour(ground), colour(text)); c < 4.5 {
				t.Errorf("%s: %s on %s has a contrast of %.2f", name, text, ground, c)
			}
		}
		for m := range ledger.NumMechanisms {
			check("--m-"+m.String(), "--t-"+m.String())
		}
		check("--m-other", "--t-other")
		for _, w := range []string{"idle", "request", "assist", "collector", "background", "runtime", "stopped"} {
			check("--w-"+w, "--tw-"+w)
		}
		for _, f := range []string{"own", "runtime", "gc", "kernel", "wait"} {
			check("--f-"+f, "--tf-"+f)
		}
		for _, ground := range []string{"--bg", "--surface", "--raised"} {
			for _, text := range []string{"--ink", "--muted", "--accent", "--good", "--bad"} {
				check(ground, text)
			}
		}
		check("--accent", "--on-accent")
	}
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + .05) / (min(x, y) + .05)
}

func luminance(hex string) (l float64) {
	for i, weight := range []float64{.2126, .7152, .0722} {
		v, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", hex, err))
		}
		c := float64(v) / 255
		if c <= .04045 {
			l += weight * c / 12.92
		} else {
			l += weight * math.Pow((c+.055)/1.055, 2.4)
		}
	}
	return l
}

// Lines break between words, not inside of what belongs together.
func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		"−1.49 s of <b> 20 ms)":  `<span class="n">−1.49 s </span>of &lt;b&gt; <span class="n">20 ms)</span>`,
		"set --slo; 3 sources":   `set <span class="n">--slo</span>; 3 sources`,
		"p99 6.4 → 2.7 ms (2–3)": `p99 6.4 → <span class="n">2.7 ms </span>(2–3)`,
	} {
		if got := string(renderProse(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// Every view says what is missing where it has nothing to show, and how to get it.
func TestMissing(t *testing.T) {
	for _, v := range listPictures(&timeline.Timeline{}, 0, 2) {
		if v.Present || v.Missing == "" || v.Do == "" {
			t.Errorf("%s: %+v", v.Kind, v)
		}
	}
	for _, v := range listPictures(attackedTimeline(), 0, 2) {
		if !v.Present {
			t.Errorf("%s is not there", v.Kind)
		}
	}
}

// Where the ledger charges all slow requests together, a page does not say that what they waited for is unknown, nor asks again for what was recorded.
func TestMissingForEach(t *testing.T) {
	for lanes, do := range map[string]string{"thread": "", "goroutine": "curl"} {
		d := &diagnose.Diagnosis{Requests: &diagnose.Requests{Count: 9, Slow: 1}, Ledger: []diagnose.Entry{{Mechanism: "own", Method: "share"}}}
		_, absent := splitPresent(d, listPictures(&timeline.Timeline{Lanes: lanes, Bands: make([]timeline.Band, 1)}, 0, 2))
		i := slices.IndexFunc(absent, func(v pictureView) bool { return v.Kind == "request" })
		if i < 0 || !strings.Contains(absent[i].Missing, "all of them together") || strings.Contains(absent[i].Missing, "not recorded") || do == "" != (absent[i].Do == "") || !strings.HasPrefix(absent[i].Do, do) {
			t.Errorf("%s: %+v", lanes, absent)
		}
	}
}
