package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	causes "github.com/unstall/unstall/internal/diagnose/check/all"
)

// service is a folder of lab/accuracy, on one of the runtimes it is for.
type service struct {
	Name  string // FOLDER, or FOLDER/RUNTIME where there are several
	Dir   string
	Known Known

	built map[string]started // by [program.buildKey]
	twin  *Known             // of a stack's variant: the stack without the fault, nil of others
}

// Known is known.json: how a service is run, and what is known of it. CONTRIBUTING.md
// says how to write one.
type Known struct {
	About string `json:"about"` // what it is, and what is wrong with it
	program
	// Runtimes are those that it is run on in turn, in place of one Runtime.
	Runtimes []string `json:"runtimes,omitempty"`
	Jars     []jar    `json:"jars,omitempty"`
	Beside   []beside `json:"beside,omitempty"`
	Load     []demand `json:"load"`
	Quota    float64  `json:"quota,omitempty"`    // CPUs; 0: none
	Memory   int      `json:"memory,omitempty"`   // MiB; 0: as much as there is
	IOPS     int      `json:"iops,omitempty"`     // writes a second to its disk; 0: as many as it does
	Recorded []string `json:"recorded,omitempty"` // names of programs beside it that are recorded with it
	Record   duration `json:"record"`
	Warm     duration `json:"warm"`
	SLO      duration `json:"slo,omitempty"`  // the diagnosis is told; 0: none
	Rows     bool     `json:"rows,omitempty"` // the diagnosis is given a row for each request, too
	Answer   answer   `json:"answer"`
	// Healthy says that nothing may be found.
	Healthy bool `json:"healthy"`
}

// program is one that is started with an address to listen on.
type program struct {
	Runtime string            `json:"runtime,omitempty"`
	Program string            `json:"program,omitempty"`
	Flags   []string          `json:"flags,omitempty"` // of the JVM
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	// Stdout is a file, or a pipe that a program beside it made, for what it prints.
	Stdout string `json:"stdout,omitempty"`
}

// jar is a file of Maven Central that a service in Java is compiled against and run with.
type jar struct {
	URL    string `json:"url"`
	SHA256 string `json:"sha256"`
}

// beside is a program that runs beside the service: what it depends on, started before
// it, or a client of it, started after it.
type beside struct {
	Name string `json:"name"`
	program
	Client bool `json:"client,omitempty"`
	// Listens says of a client that it accepts connections once it is ready: it may fill a
	// store first.
	Listens bool `json:"listens,omitempty"`
}

// demand is a load, with the words of unstall load.
type demand struct {
	To          string   `json:"to,omitempty"` // the name of a program beside; "": the service
	Rate        float64  `json:"rate,omitempty"`
	Poisson     bool     `json:"poisson,omitempty"`
	Paths       []string `json:"paths"`
	Method      string   `json:"method,omitempty"`
	Headers     []string `json:"headers,omitempty"`
	Body        string   `json:"body,omitempty"`
	Connections int      `json:"connections,omitempty"`
	Spike       string   `json:"spike,omitempty"`
	Ramp        string   `json:"ramp,omitempty"`
	Timeout     duration `json:"timeout,omitempty"`
}

// answer is what must be found.
type answer struct {
	First []string `json:"first,omitempty"` // one of these first
	Also  []string `json:"also,omitempty"`  // these may be found, too
	Names []string `json:"names,omitempty"` // words that the first verdict must say; A|B: one of them, such as a method and what a compiler may have inlined it into
	Never []string `json:"never,omitempty"` // these causes may not be found, whatever comes first
	// Unsaid are words that the first verdict may not say: advice that does harm, or that
	// has nothing to do with the fault.
	Unsaid []string `json:"unsaid,omitempty"`
}

// duration is written as Go writes one.
type duration struct{ time.Duration }

func (d *duration) UnmarshalJSON(text []byte) (err error) {
	var s string
	if err := json.Unmarshal(text, &s); err != nil || s == "" {
		return err
	}
	d.Duration, err = time.ParseDuration(s)
	return err
}

func (d duration) MarshalJSON() ([]byte, error) {
	if d.Duration == 0 {
		return []byte(`""`), nil
	}
	return json.Marshal(d.String())
}

// chosenServices are those that -only names.
func chosenServices(o options) ([]service, error) {
	all, err := readServices(o.dir)
	return slices.DeleteFunc(all, func(s service) bool { return !o.only.MatchString(s.Name) }), err
}

// readServices reads what is in a folder of services.
func readServices(dir string) (all []service, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		s := service{Name: e.Name(), Dir: filepath.Join(dir, e.Name())}
		variants, err := readStack(s.Dir)
		if err != nil {
			return nil, err
		}
		all = append(all, variants...)
		text, err := os.ReadFile(filepath.Join(s.Dir, "known.json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue // what several services share
		}
		if err == nil {
			s.Known, err = parseKnown(text)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: known.json: %w", s.Name, err)
		}
		all = append(all, s.onEach()...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: there is no known.json and no stack.json in its folders", dir)
	}
	return all, nil
}

// onEach is a service for each runtime that it is for. Each is asked for itself: what is
// recorded of it differs by runtime.
func (s service) onEach() []service {
	if len(s.Known.Runtimes) == 0 {
		return []service{s}
	}
	var all []service
	for _, on := range s.Known.Runtimes {
		one := s
		one.Name += "/" + on
		one.Known.Runtime, one.Known.Runtimes = on, nil
		all = append(all, one)
	}
	return all
}

// runtimes that services may be written for.
var runtimes = regexp.MustCompile(`^(go|jvm[0-9]+|c|rust|redis|nginx|php|postgres|mariadb|node|python|dotnet|dotnet31|dotnet9)$`)

// Lengths of a service that says none.
const (
	usualRecord = 20 * time.Second
	usualWarm   = 3 * time.Second
)

func parseKnown(text []byte) (k Known, err error) {
	if err := decodeStrict(text, &k); err != nil {
		return k, err
	}
	k.setDefaults()
	return k, k.checkKeys()
}

// setDefaults fills in what is usual.
func (k *Known) setDefaults() {
	if k.Record.Duration == 0 {
		k.Record.Duration = usualRecord
	}
	if k.Warm.Duration == 0 {
		k.Warm.Duration = usualWarm
	}
	for i := range k.Beside {
		if b := &k.Beside[i]; b.Runtime == "" {
			b.Runtime = "go"
		}
	}
}

func (k *Known) checkKeys() error {
	names := map[string]bool{"": true}
	for _, b := range k.Beside {
		if b.Name == "" || b.Name == "service" || names[b.Name] || strings.ToLower(b.Name) != b.Name {
			return fmt.Errorf("beside %q: give each a name of its own, in small letters", b.Name)
		}
		names[b.Name] = true
	}
	if k.Runtime != "" && len(k.Runtimes) > 0 {
		return errors.New("runtime and runtimes: give one of them")
	}
	on := slices.Clone(k.Runtimes)
	for i, p := range k.allPrograms() {
		if i > 0 || len(k.Runtimes) == 0 { // the first is the service itself
			on = append(on, p.Runtime)
		}
	}
	for i, name := range on {
		switch {
		case !runtimes.MatchString(name):
			return fmt.Errorf("runtime %q: give go, jvm11, jvm17, jvm21, jvm25, c, rust, redis, nginx, php, postgres, mariadb, node, python, dotnet, dotnet31 or dotnet9", name)
		case i < len(k.Runtimes) && slices.Contains(on[:i], name):
			return fmt.Errorf("runtimes: %s is there twice", name)
		}
	}
	switch {
	case k.About == "":
		return errors.New("about: say what it is and what is wrong with it")
	case len(k.Load) == 0 && !slices.ContainsFunc(k.Beside, func(b beside) bool { return b.Client }):
		return errors.New("load: there is none")
	case k.Quota < 0 || k.Memory < 0 || k.IOPS < 0:
		return fmt.Errorf("quota %g, memory %d, iops %d: give CPUs, MiB, writes a second", k.Quota, k.Memory, k.IOPS)
	case boolToInt(k.Quota > 0)+boolToInt(k.Memory > 0)+boolToInt(k.IOPS > 0) > 1:
		return errors.New("quota, memory and iops: give one of them")
	case k.Healthy && (len(k.Answer.First) > 0 || len(k.Answer.Also) > 0 || len(k.Answer.Never) > 0):
		return errors.New("healthy: nothing may be found, so that answer names no cause")
	case !k.Healthy && len(k.Answer.First) == 0:
		return errors.New("answer: first names no cause, and it is not healthy")
	}
	for _, name := range k.Recorded {
		if name == "" || !names[name] {
			return fmt.Errorf("recorded %q: nothing beside has this name", name)
		}
	}
	for _, l := range k.Load {
		switch {
		case !names[l.To]:
			return fmt.Errorf("load to %q: nothing beside has this name", l.To)
		case len(l.Paths) == 0:
			return errors.New("load: give paths")
		case l.Rate <= 0 && l.Connections <= 0 && l.Ramp == "":
			return errors.New("load: give a rate, or connections for a closed loop")
		}
	}
	return nil
}

// unknownCauses are those an answer names that no rule looks for.
func (k *Known) unknownCauses() (ids []string) {
	for _, id := range slices.Concat(k.Answer.First, k.Answer.Also, k.Answer.Never) {
		if !isCause(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// allPrograms returns all programs that are started, the service's first.
func (k *Known) allPrograms() []program {
	all := []program{k.program}
	for _, b := range k.Beside {
		all = append(all, b.program)
	}
	return all
}

func isCause(id string) bool {
	for _, c := range causes.Causes {
		if c.ID == id {
			return true
		}
	}
	return false
}
