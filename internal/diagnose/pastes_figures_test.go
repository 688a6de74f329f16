package diagnose_test

import (
	"encoding/json"
	"flag"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/inspect"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/all"
)

var updateUntold = flag.Bool("update-untold", false, "shorten the list of the figures of pastes that are not told")

// untold are the figures of pastes that are not told, by case: what the test leaves out.
const untold = "testdata/pastes/untold.json"

// TestPastesFigures holds the figures that were counted by hand in pastes against those that a diagnosis and inspect tell of them, by value and unit. A
// number without a unit below small must also stand beside a word of the figure's name, as any text has a 3. Figures that are not told are listed in
// untold.json: the test fails if one more is not told, and if one of the list is.
func TestPastesFigures(t *testing.T) {
	const pastes = "testdata/pastes"
	want := make(map[string][]string)
	if data, err := os.ReadFile(untold); err != nil {
		t.Fatal(err)
	} else if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	got := make(map[string][]string)
	all, told := 0, 0
	dirs, _ := filepath.Glob(filepath.Join(pastes, "*", "case.json"))
	for _, file := range dirs {
		dir := filepath.Dir(file)
		p := pasteOf(t, dir)
		if len(p.Expect.Figures) == 0 {
			continue
		}
		figures := quantitiesOf(t, dir)
		name := filepath.Base(dir)
		for _, about := range slices.Sorted(maps.Keys(p.Expect.Figures)) {
			all++
			if figures.tell(about, p.Expect.Figures[about]) {
				told++
				if slices.Contains(want[name], about) {
					t.Errorf("%s: %q is told: it stands in %s no longer", name, about, untold)
				}
				continue
			}
			got[name] = append(got[name], about)
			if !slices.Contains(want[name], about) {
				t.Errorf("%s: %q, %v, is not told", name, about, p.Expect.Figures[about])
			}
		}
	}
	t.Logf("%d of %d figures are told", told, all)
	if *updateUntold {
		for name := range got { // it may only get shorter
			got[name] = slices.DeleteFunc(got[name], func(about string) bool { return !slices.Contains(want[name], about) })
		}
		maps.DeleteFunc(got, func(_ string, left []string) bool { return len(left) == 0 })
		data, err := json.MarshalIndent(got, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(untold, append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// quantity is a number that is told, in the base unit of its kind, with the words beside it.
type quantity struct {
	value float64
	kind  string // "s", "bytes", "part", "/s", "bytes/s"; "" is a count
	words []string
}

type quantities []quantity

func quantitiesOf(t *testing.T, dir string) (q quantities) {
	t.Helper()
	b := incident.NewBundle()
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		if filepath.Base(f) != "case.json" {
			_ = format.Read(t.Context(), all.Formats, format.File(f), b) // TestPastes holds what is read
		}
	}
	d, err := diagnose.Run(t.Context(), b, diagnose.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []any{d, inspect.Of(b)} {
		data, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		var tree any
		if err := json.Unmarshal(data, &tree); err != nil {
			t.Fatal(err)
		}
		q.addTree(tree, "", nil)
	}
	return q
}

// beside are keys whose numbers are none of the evidence: places, versions, thresholds and what a fix would do.
var beside = map[string]bool{"origin": true, "source": true, "sources": true, "schema": true, "tool_version": true, "version": true, "clock": true, "from": true, "until": true, "start": true,
	"end": true, "window": true, "steps": true, "why": true, "thresholds": true, "margins": true, "needs": true, "fixes": true, "fix": true, "prediction": true, "predictions": true,
	"not_seen": true, "doc": true, "setting": true, "name": true, "bytes": false}

// addTree adds the numbers of JSON; a key says the unit of its number, or a member "unit" that of "value".
func (q *quantities) addTree(x any, key string, words []string) {
	switch x := x.(type) {
	case float64:
		kind, factor := unitOfKey(key)
		*q = append(*q, quantity{x * factor, kind, append(wordsOf(key), words...)})
	case string:
		q.addText(x, words, "", 1)
	case []any:
		for _, y := range x {
			q.addTree(y, key, words)
		}
	case map[string]any:
		if columns, ok := x["columns"].([]any); ok {
			q.addTable(x, columns)
			return
		}
		text, _ := x["text"].(string)
		if unit, ok := x["unit"].(string); ok {
			if v, ok := x["value"].(float64); ok {
				kind, factor := unitNamed(unit)
				*q = append(*q, quantity{v * factor, kind, wordsOf(text)})
			}
		}
		for _, k := range slices.Sorted(maps.Keys(x)) {
			if !beside[k] && k != "value" {
				q.addTree(x[k], k, append(slices.Clone(words), wordsOf(key)...))
			}
		}
	}
}

func (q *quantities) addTable(table map[string]any, columns []any) {
	title, _ := table["title"].(string)
	rows, _ := table["rows"].([]any)
	for _, r := range rows {
		cells, _ := r.([]any)
		if len(cells) == 0 {
			continue
		}
		name, _ := cells[0].(string)
		unit := "" // of the row, where a column has it
		if i := slices.Index(columns, any("unit")); i >= 0 && i < len(cells) {
			unit, _ = cells[i].(string)
		}
		for i, c := range cells {
			text, _ := c.(string)
			head := ""
			if i < len(columns) {
				head, _ = columns[i].(string)
			}
			words := append(wordsOf(title+" "+head), wordsOf(name)...)
			kind, factor := unitOfWords(head)
			if kind == "" && i > 0 {
				kind, factor = unitOfWords(name)
			}
			if kind == "" && unit != "" {
				kind, factor = unitNamed(unit)
			}
			q.addText(text, words, kind, factor)
		}
	}
}

var (
	numbers = regexp.MustCompile(`(^|[^\pL\pN_.:/#@-])[−-]?(\d[\d,]*\.?\d*(?:e[+-]\d+)?|\.\d+)( ?– ?(\d[\d,]*\.?\d*))?(\x{a0}| |-)?([\pL%µμ/]+)?`)
	once    = regexp.MustCompile(`\b(once|one|a single|a deadlock|deadlock of|twice|two)\b`)
)

// addText adds the numbers of a text, each with the unit behind it, or with the one that is given.
func (q *quantities) addText(text string, words []string, kind string, factor float64) {
	near := wordsOf(text)
	if len(near) > 60 {
		near = near[:60]
	}
	near = append(near, words...)
	for _, m := range numbers.FindAllStringSubmatch(text, -1) {
		k, f := kind, factor
		if unit, by := unitNamed(m[6]); unit != "" {
			k, f = unit, by
		}
		for _, n := range []string{m[2], m[4]} {
			if v, err := strconv.ParseFloat(strings.ReplaceAll(n, ",", ""), 64); err == nil {
				*q = append(*q, quantity{v * f, k, near})
			}
		}
	}
	for _, m := range once.FindAllString(text, -1) {
		*q = append(*q, quantity{map[bool]float64{true: 2, false: 1}[strings.HasPrefix(m, "tw")], "", near})
	}
}

// unitNamed returns the kind of a unit by its name, and its size; "" for another word.
func unitNamed(unit string) (kind string, size float64) {
	if per, ok := strings.CutSuffix(unit, "/s"); ok {
		if per == "" || per == "1" {
			return "/s", 1
		}
		if kind, size := unitNamed(per); kind == "bytes" {
			return "bytes/s", size
		}
		return "/s", 1
	}
	switch unit {
	case "ns":
		return "s", 1e-9
	case "us", "µs", "μs", "usec", "microseconds":
		return "s", 1e-6
	case "ms", "msec", "milliseconds":
		return "s", 1e-3
	case "s", "sec", "secs", "second", "seconds":
		return "s", 1
	case "min", "minute", "minutes":
		return "s", 60
	case "h", "hour", "hours":
		return "s", 3600
	case "days", "day":
		return "s", 86400
	case "B", "byte", "bytes":
		return "bytes", 1
	case "KB", "KiB", "kB", "K":
		return "bytes", 1 << 10
	case "MB", "MiB", "M":
		return "bytes", 1 << 20
	case "GB", "GiB":
		return "bytes", 1 << 30
	case "%", "percent":
		return "part", .01
	case "1", "share":
		return "part", 1
	case "rps", "rate":
		return "/s", 1
	case "KB/s", "kbps":
		return "bytes/s", 1 << 10
	}
	return "", 1
}

// unitOfKey returns the unit that a key of JSON names: "p50_ms", "memory_limit_bytes", "share".
func unitOfKey(key string) (kind string, size float64) {
	if strings.HasSuffix(key, "_per_s") || key == "rate" {
		return "/s", 1
	}
	if i := strings.LastIndexByte(key, '_'); i >= 0 {
		if kind, size := unitNamed(key[i+1:]); kind != "" {
			return kind, size
		}
	}
	if strings.Contains(key, "share") || key == "value" || key == "low" || key == "high" {
		return "part", 1
	}
	if key == "seconds" {
		return "s", 1
	}
	return "", 1
}

// unitOfWords returns the unit that the name of a figure or the heading of a column has: "longest wait minutes", "%util", "own MiB".
func unitOfWords(name string) (kind string, size float64) {
	fields := strings.Fields(name)
	for i, w := range slices.Backward(fields) {
		w = strings.Trim(w, "(),:")
		if w == "min" && (i == 0 || fields[i-1] != "longest") { // a minimum
			continue
		}
		if w == "s" || w == "h" || w == "M" || w == "K" || w == "B" || w == "1" {
			if i < len(fields)-1 || i == 0 {
				continue
			}
		}
		if strings.HasPrefix(w, "%") {
			return "part", .01
		}
		if kind, size := unitNamed(w); kind != "" && w != "second" {
			return kind, size
		}
	}
	return "", 1
}

// small is the number below which one without a unit stands in any text.
const small = 20

// tell says whether a figure is told: a number of its kind within 0.6 % of it. Where its name has no unit, a percentage is one, too.
func (q quantities) tell(about string, want float64) bool {
	kind, size := unitOfWords(about)
	words := wordsOf(about)
	return slices.ContainsFunc(q, func(x quantity) bool {
		is := func(v float64) bool { return math.Abs(x.value-v) <= .006*math.Abs(v) }
		switch decimal := decimalOf[size]; {
		case kind == "bytes" && x.kind == kind && decimal > 0 && is(want*decimal): // some tools count MB by 1,000
			return true
		case kind == "" && x.kind == "bytes" && want >= 1024: // bytes without their unit
			return is(want)
		case x.kind == kind && kind != "" && is(want*size):
			return true
		case kind == "part" && size*want < 1 && x.kind == "part" && slices.Contains(words, "idle"): // what is not busy
			return math.Abs(1-x.value-size*want) <= .006*(1-size*want) && slices.Contains(x.words, "busy")
		case kind == "/s" && x.kind == "", kind == "part" && x.kind == "" && size == 1 && want < 1:
			return is(want) && related(x.words, words)
		case kind != "":
			return false
		case x.kind == "":
			return is(want) && (want >= small || related(x.words, words))
		case x.kind == "part":
			return (is(want/100) || want < 1 && is(want)) && related(x.words, words)
		}
		return false
	})
}

// decimalOf are units of sizes by 1,000, by those by 1,024.
var decimalOf = map[float64]float64{1 << 10: 1e3, 1 << 20: 1e6, 1 << 30: 1e9}

// alike are beginnings of words, as wordsOf makes them, that name one thing.
var alike = [][]string{
	{"wait", "queu", "pend", "bloc", "awai", "back", "behi", "sync", "fsyn"}, {"long", "most", "max", "slow", "maxi", "larg"},
	{"requ", "call", "quer", "comm", "entr", "stat", "answ", "oper", "even", "span", "miss"}, {"paus", "coll", "cycl", "stop", "gc", "youn", "full", "fgc", "safe", "line", "mino"},
	{"plac", "size", "capa", "limi", "conn", "tota", "maxi", "max", "thre", "slot", "work", "chil", "open", "sock", "maxc"}, {"goro", "stac"},
	{"busy", "acti", "runn", "use", "used", "inus", "take", "in"}, {"idle", "free"}, {"time", "refu", "fail", "gave", "erro", "reac", "ran", "drop"}, {"hear", "warn"},
	{"line", "entr", "mess", "time", "occu", "more"}, {"thro", "nrth"}, {"peri", "nrpe"}, {"stal", "stop", "hung", "held", "work"}, {"dead", "ended"}, {"look", "read", "dump", "list", "repo"},
	{"lock", "mute", "moni"}, {"proc", "runn", "task"}, {"cpu", "proc", "core"}, {"mini", "min", "leas"}, {"sent", "agai", "rese"}, {"swap", "so", "si"},
}

func related(a, b []string) bool {
	if len(b) == 0 {
		return true
	}
	for _, x := range a {
		for _, y := range b {
			if x == y {
				return true
			}
			for _, group := range alike {
				if slices.Contains(group, x) && slices.Contains(group, y) {
					return true
				}
			}
		}
	}
	return false
}

var word = regexp.MustCompile(`\pL+`)

// wordsOf returns the beginnings of a text's words.
func wordsOf(text string) (words []string) {
	for _, w := range word.FindAllString(strings.ToLower(strings.ReplaceAll(text, "_", "")), -1) {
		switch w {
		case "of", "the", "a", "in", "for", "to", "and", "at", "by", "s", "ms", "is", "was", "were", "it", "that", "with", "on", "per", "or", "all":
			continue
		}
		words = append(words, strings.TrimSuffix(string([]rune(w)[:min(4, len([]rune(w)))]), "s"))
	}
	return words
}
