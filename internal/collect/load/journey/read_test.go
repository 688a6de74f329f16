package journey

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/collect/load"
)

const sound = `
base: http://127.0.0.1:1
vars: {x: 1}
journeys:
  a:
    - name: first
      get: /
scenarios:
  b:
    journey: a
    arrivals:
      - {rate: 1, for: 1s}
`

// What is wrong is said in one line, with where it is and what was meant.
func TestBadFiles(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{sound, "", "it is empty"},
		{sound, "a: [", "journey.yaml:1: this is not YAML"},
		{sound, "- a", "journey.yaml:1: the file: give names with values, not a list"},
		{sound, "a: &a [*a]", "journey.yaml:1: the value &a holds itself"},
		{sound, "base: http://a", "it has no journeys"},
		{"base: http", "bsae: http", `journey.yaml:2: the file: unknown name "bsae"; do you mean "base"?`},
		{"get: /", "gett: /", `journey.yaml:7: a step: unknown name "gett"; do you mean "get"?`},
		{"get: /", "get: /\n      post: /", "journey.yaml:6: a step makes one request"},
		{"get: /", "name: x", `journey.yaml:7: a step: "name" is given twice`},
		{"get: /", "get: /${y}", `journey.yaml:6: ${y}: nothing has that name here; do you mean "x"?`},
		{"get: /", "get: /${nobody}", `journey.yaml:6: ${nobody}: nothing has that name here; there are user, x`},
		{"get: /", "get: /${env.UNSTALL_NOT_SET}", "UNSTALL_NOT_SET is not set in the environment"},
		{"get: /", "get: /${", "a ${ without its }"},
		{"vars: {x: 1}", "vars: {x: '${y}', y: '${z}', z: 'a${x}'}", "vars: x refers to itself: x → y → z → x"},
		{"vars: {x: 1}", "vars: {user: 1}", `"user" is there already`},
		{"vars: {x: 1}", "vars: {x: {random: 9..1}}", "give two whole numbers such as 1..1000"},
		{"base: http://127.0.0.1:1", "base: 127.0.0.1:1", "give http://host:port"},
		{"base: http://127.0.0.1:1", "about: x", "journey.yaml:6: step first: / is relative to nothing"},
		{"journey: a", "journey: c", `journey.yaml:10: scenario b: unknown journey "c"; do you mean "a"?`},
		{"{rate: 1, for: 1s}", "{rate: fast, for: 1s}", `journey.yaml:12: rate: "fast" is no rate`},
		{"{rate: 1, for: 1s}", "{rate: 1}", "journey.yaml:12: arrivals: give one of"},
		{"{rate: 1, for: 1s}", "{rate: 1, ramp: [1, 2], for: 1s}", "journey.yaml:12: arrivals: give one of"},
		{"{rate: 1, for: 1s}", "{rate: 1, for: soon}", `"soon" is no time`},
		{"get: /", "get: /\n      think: 3s..1s", "give a time such as 2s, or a range"},
		{"get: /", "get: /\n      check: {selector: 'a['}", "is no CSS selector"},
		{"get: /", "get: /\n      check: 99", "give a status such as 200, or 2xx"},
		{"get: /", "get: /\n      take: {y: {regexp: '('}}", "journey.yaml:8: regexp:"},
		{"get: /", "get: /\n      take: {y: {json: 'a['}}", "a [ without its ]"},
		{"get: /", "get: /\n      take: {y: {json: a, header: b}}", "give one of selector, json, regexp, header, cookie"},
		{"get: /", "get: /\n      take: {y: {jsn: a}}", `do you mean "json"?`},
		{"get: /", "follow: a", "no page comes before it"},
		{"get: /", "get: /\n      body: a\n      form: {a: b}", "give a body or a form"},
		{"get: /", "get: /\n      http: 3", "give auto, 1.1 or 2"},
		{"name: first\n      get: /", "repeat: 0\n      steps: [{get: /}]", "give how often, 1 to 10000"},
	} {
		_, err := Read("journey.yaml", []byte(strings.Replace(sound, c.from, c.to, 1)), nil)
		if err == nil || !errors.Is(err, load.ErrPlan) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", c.to, err, c.want)
		}
	}
	if _, err := Read("journey.yaml", []byte(sound), map[string]string{"z": "1"}); err == nil || !strings.Contains(err.Error(), `do you mean "x"?`) {
		t.Errorf("--var of another name: %v", err)
	}
	bomb := "a: &a [1,1,1,1,1,1,1,1,1,1]\n"
	for _, c := range "bcdefgh" {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 9) + "*" + string(c-1) + "]\n"
	}
	if _, err := Read("journey.yaml", []byte("headers:\n  "+strings.ReplaceAll(strings.TrimSpace(bomb), "\n", "\n  ")+"\n"+sound), nil); err == nil {
		t.Error("a bomb of aliases is read")
	}
}

func TestArrivalsAreRead(t *testing.T) {
	for _, c := range []struct {
		text string
		want load.Pattern
	}{
		{"{users: 100*2, for: 200s*2}", load.Pattern{{For: 400 * time.Second, From: .5, To: .5}}},
		{"[{nothing: 20m}, {rate: 300/m, for: 1h}]", load.Pattern{{For: 20 * time.Minute}, {For: time.Hour, From: 5, To: 5}}},
		{"{ramp: [1, 10], for: 2m}", load.Ramp(1, 10, 2*time.Minute)},
		{"{steps: [1, 2, 4], for: 3m}", load.Steps([]float64{1, 2, 4}, 3*time.Minute)},
		{"{rate: 5, spike: 20, at: 40s, lasts: 20s, for: 100s}", load.Spike(5, 20, 100*time.Second, 40*time.Second, 20*time.Second)},
		{"{rate: 5, spike: 20, for: 100s}", load.Spike(5, 20, 100*time.Second, 40*time.Second, 20*time.Second)},
	} {
		s, err := Read("journey.yaml", []byte(strings.Replace(sound, "      - {rate: 1, for: 1s}", "      "+c.text, 1)), nil)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got := s.Scenarios[0].Arrivals
		if len(got) != len(c.want) {
			t.Errorf("%s: %v", c.text, got)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v, want %v", c.text, got[i], c.want[i])
			}
		}
	}
}

// The examples are the profiles of the field report.
func TestExamples(t *testing.T) {
	for name, want := range map[string][]load.Pattern{
		"shop-ramp":  {{{For: 600 * time.Second, From: .5, To: .5}}},
		"shop-users": {{{For: 600 * time.Second, From: .25, To: .25}}, {{For: 600 * time.Second, From: .5, To: .5}}},
		"shop-peak":  {{{For: 200 * time.Second, From: 2.25, To: 2.25}}, {{For: 20 * time.Minute}, {For: 30 * time.Minute, From: 25. / 3, To: 25. / 3}}},
	} {
		text, err := Example(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Read(name, text, map[string]string{"m": "3", "base": "http://127.0.0.1:9"})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range s.Scenarios {
			for k, stage := range c.Arrivals {
				if w := want[i][k]; stage.For != w.For || stage.From-w.From > 1e-9 || w.From-stage.From > 1e-9 {
					t.Errorf("%s: %v, want %v", name, c.Arrivals, want[i])
				}
			}
		}
		if s.Plan().URL != "http://127.0.0.1:9" {
			t.Errorf("%s is for %s", name, s.Plan().URL)
		}
	}
	if len(Examples()) != 3 {
		t.Errorf("%v", Examples())
	}
	if _, err := Example("shop-pike"); err == nil || !strings.Contains(err.Error(), `do you mean "shop-peak"?`) {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(sound))
	f.Add([]byte(everything))
	for _, name := range Examples() {
		text, _ := Example(name)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Read("f", text, nil)
		if err != nil && (strings.Contains(err.Error(), "\n") || !errors.Is(err, load.ErrPlan)) {
			t.Fatalf("%q", err)
		}
		if err == nil && (len(s.Scenarios) == 0 || s.Base == "") {
			t.Fatalf("%+v", s)
		}
	})
}
