package predict

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseSets reads what is asked for: each text is NAME=VALUE, or several of them with
// spaces between, which then are one row. Of names given alone, values of the same
// name are rows of their own, and values of different names go together.
func ParseSets(texts []string) ([]Wanted, error) {
	rows := []Wanted{}
	type value struct {
		text string
		set  func(*Wanted)
	}
	var names []string
	model := ""
	single := make(map[string][]value)
	for _, text := range texts {
		words := strings.Fields(text)
		if len(words) == 0 {
			return nil, errors.New(`--set "": give NAME=VALUE, such as GOMEMLIMIT=800MiB, or await`)
		}
		var row Wanted
		for _, word := range words {
			name, set, err := parseSet(word)
			if err != nil {
				return nil, err
			}
			if model != "" && model != modelOf(name) {
				return nil, fmt.Errorf("--set %s: that is of another runtime than the settings before it: ask for %s alone", word, word)
			}
			model = modelOf(name)
			if len(words) == 1 {
				if single[name] == nil {
					names = append(names, name)
				}
				single[name] = append(single[name], value{word, set})
			}
			set(&row)
		}
		if len(words) > 1 {
			row.Text = text
			rows = append(rows, row)
		}
	}
	product := []Wanted{}
	if len(names) > 0 {
		product = append(product, Wanted{})
	}
	for _, name := range names {
		var more []Wanted
		for _, w := range product {
			for _, v := range single[name] {
				x := w
				v.set(&x)
				x.Text = strings.TrimSpace(x.Text + " " + v.text)
				more = append(more, x)
			}
		}
		product = more
	}
	const most = 100
	if rows = append(product, rows...); len(rows) > most {
		return nil, errors.New("--set: these combine to more than 100 rows: ask for fewer at once")
	}
	for i := range rows {
		rows[i].model = model
	}
	return rows, nil
}

// knob is one name that may stand in --set: what a process is told, or what else may
// change.
type knob struct {
	name, model string
	example     string // of a value; "": it has none
	parse       func(text string) (func(*Wanted), error)
}

// knobs of all models. A model brings its own.
var knobs = []knob{
	{"GOGC", ModelHeap, "200", number(ParseGOGC, func(w *Wanted) **float64 { return &w.GOGC })},
	{"GOMEMLIMIT", ModelHeap, "800MiB", number(ParseLimit, func(w *Wanted) **float64 { return &w.Limit })},
	{"ballast", ModelHeap, "1GiB", number(sizeOrNone, func(w *Wanted) **float64 { return &w.Ballast })},
	{"live", ModelHeap, "120MiB", number(ParseSize, func(w *Wanted) **float64 { return &w.Live })},
	{"alloc", ModelHeap, "800MiB/s", number(sizeEachSecond, func(w *Wanted) **float64 { return &w.Alloc })},
	{"await", ModelPool, "", func(string) (func(*Wanted), error) { return func(w *Wanted) { w.Pool.Await = true }, nil }},
	{"min-threads", ModelPool, "200", number(count, func(w *Wanted) **float64 { return &w.Pool.Min })},
	{"max-threads", ModelPool, "100", number(count, func(w *Wanted) **float64 { return &w.Pool.Max })},
	{"service-time", ModelPool, "500ms", number(seconds, func(w *Wanted) **float64 { return &w.Pool.Service })},
	{"connections", ModelPool, "125", number(count, func(w *Wanted) **float64 { return &w.Pool.Connections })},
	{"Xmn", ModelYoung, "2g", number(ParseFlagSize, func(w *Wanted) **float64 { return &w.Young.Size })},
	{"NewSize", ModelYoung, "2g", number(ParseFlagSize, func(w *Wanted) **float64 { return &w.Young.Size })},
	{"Xmx", ModelYoung, "6g", number(ParseFlagSize, func(w *Wanted) **float64 { return &w.Young.Heap })},
	{"alloc-rate", ModelYoung, "×0.3", number(factor, func(w *Wanted) **float64 { return &w.Young.Alloc })},
	{"rate", ModelYoung, "80", number(perSecond, func(w *Wanted) **float64 { return &w.Young.Rate })},
}

// parseSet reads one NAME=VALUE, or NAME where it has no value.
func parseSet(word string) (name string, set func(*Wanted), err error) {
	name, text, valued := strings.Cut(word, "=")
	fail := func(err error) (string, func(*Wanted), error) {
		return "", nil, errors.New("--set " + word + ": " + err.Error())
	}
	for _, k := range knobs {
		switch {
		case k.name != name:
			continue
		case k.example == "" && valued:
			return fail(errors.New("it has no value: give " + name))
		case k.example != "" && !valued:
			return fail(errors.New("give NAME=VALUE, such as " + name + "=" + k.example))
		}
		if set, err = k.parse(text); err != nil {
			return fail(err)
		}
		return name, set, nil
	}
	if !valued {
		return fail(errors.New("give NAME=VALUE, such as GOMEMLIMIT=800MiB, or await"))
	}
	return fail(errors.New("there is no such setting: give " + names(ModelHeap) + " of a Go process, " + names(ModelPool) + " of a .NET process, " + names(ModelYoung) + " of a JVM"))
}

// names lists what a model can be asked.
func names(model string) string {
	var all []string
	for _, k := range knobs {
		if k.model == model {
			all = append(all, k.name)
		}
	}
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}

func modelOf(name string) string {
	for _, k := range knobs {
		if k.name == name {
			return k.model
		}
	}
	return ""
}

// number is a knob of one figure.
func number(read func(string) (float64, error), at func(*Wanted) **float64) func(string) (func(*Wanted), error) {
	return func(text string) (func(*Wanted), error) {
		v, err := read(text)
		if err != nil {
			return nil, err
		}
		return func(w *Wanted) { *at(w) = &v }, nil
	}
}

func sizeOrNone(text string) (float64, error) {
	if text == "0" {
		return 0, nil
	}
	return ParseSize(text)
}

func sizeEachSecond(text string) (float64, error) { return ParseSize(strings.TrimSuffix(text, "/s")) }

// mostThreads is the largest number of threads or connections that is taken for one: threads
// are counted in 16 bits by the runtime.
const mostThreads = math.MaxInt16

func count(text string) (float64, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostThreads || strings.HasPrefix(text, "+") {
		return 0, fmt.Errorf("%q: give a whole number from 1 to %d", text, mostThreads)
	}
	return float64(n), nil
}

func seconds(text string) (float64, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Millisecond || d > time.Hour {
		return 0, fmt.Errorf("%q: give a time from 1ms to 1h, such as 500ms or 1.5s", text)
	}
	return d.Seconds(), nil
}
