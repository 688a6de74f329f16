package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
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
	twin  *Known             // of a stack's variant: the stack without the fault; else nil
}

// Known is known.json: how a service is run, and its known answer. lab/accuracy/known.md says how to write one.
type Known struct {
	About string `json:"about"` // what it is and what its fault is
	program
	// Runtimes are the runtimes that it is run on in turn, instead of one Runtime.
	Runtimes []string `json:"runtimes,omitempty"`
	Jars     []jar    `json:"jars,omitempty"`
	// Processors are the jars of annotation processors that javac runs.
	Processors []jar    `json:"processors,omitempty"`
	Beside     []beside `json:"beside,omitempty"`
	Load       []demand `json:"load"`
	Quota      float64  `json:"quota,omitempty"`    // CPUs; 0: none
	Memory     int      `json:"memory,omitempty"`   // MiB; 0: no limit
	IOPS       int      `json:"iops,omitempty"`     // writes a second to its disk; 0: no limit
	Recorded   []string `json:"recorded,omitempty"` // names of programs beside it that are recorded with it
	Record     duration `json:"record"`
	Warm       duration `json:"warm"`
	SLO        duration `json:"slo,omitempty"`  // the diagnosis gets; 0: none
	Rows       bool     `json:"rows,omitempty"` // the diagnosis also gets a row for each request
	Answer     answer   `json:"answer"`
	// Healthy says that nothing may be found.
	Healthy bool `json:"healthy"`
}

// program is a program that is started with an address to listen on.
type program struct {
	Runtime string            `json:"runtime,omitempty"`
	Program string            `json:"program,omitempty"`
	Flags   []string          `json:"flags,omitempty"` // of the JVM
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	// Stdout is a file, or a pipe that a program beside it made, for its output.
	Stdout string `json:"stdout,omitempty"`
}

// jar is a file of Maven Central that a service in Java is compiled against and run with.
type jar struct {
	URL    string `json:"url"`
	SHA256 string `json:"sha256"`
}

// beside is a program that runs beside the service: a dependency, started before
// it, or a client, started after it.
type beside struct {
	Name string `json:"name"`
	program
	Client bool `json:"client,omitempty"`
	// Listens says that a client accepts connections once it is ready, for example after it
	// has filled a store.
	Listens bool `json:"listens,omitempty"`
}

// demand is a load, by the flags of unstall load.
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

// answer is what a diagnosis must find.
type answer struct {
	First []string `json:"first,omitempty"` // one of these first
	Also  []string `json:"also,omitempty"`  // these may be found, too
	Names []string `json:"names,omitempty"` // words that the first verdict must have; A|B: one of them, such as a method and its caller into which a compiler may inline it
	Never []string `json:"never,omitempty"` // these causes must not be found, at any rank
	// Unsaid are words that the title and the fixes of the first verdict must not have: harmful advice, or
	// advice that has nothing to do with the fault.
	Unsaid []string `json:"unsaid,omitempty"`
}

// duration is written in Go's notation.
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

// chosenServices returns the services that -only names, in the order of -draw, without those that
// earlier sittings judged in every run, and at most -take of them.
func chosenServices(o options, earlier []Case) ([]service, error) {
	all, err := readServices(o.dir)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s service) bool { return !o.only.MatchString(s.Name) })
	if o.draw > 0 {
		rand.New(rand.NewPCG(o.draw, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	all = slices.DeleteFunc(all, func(s service) bool {
		for run := range o.runs {
			if findCase(earlier, s.Name, run+1) < 0 {
				return false
			}
		}
		return true
	})
	if o.take > 0 {
		all = all[:min(o.take, len(all))]
	}
	return all, nil
}

// readServices reads the services of a folder.
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
			continue // shared by several services
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

// onEach returns a service for each of its runtimes. Each is judged by itself, as its recording
// differs by runtime.
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

// Durations of a service that does not set them.
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

// setDefaults sets unset fields to their defaults.
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

// unknownCauses returns the causes of an answer that no check looks for.
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
