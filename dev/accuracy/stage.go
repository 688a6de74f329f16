package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/lab"
	"github.com/unstall/unstall/lab/process"
)

// stage is a running service with the programs beside it.
type stage struct {
	service
	options
	dir       string            // of the programs' files
	addresses map[string]string // by name; "": the service's
	running   []*process.Program
	named     map[string]*process.Program
	target    *process.Program
	quota     *process.Quota
	notes     []string
}

// withService starts a service and the programs beside it, calls do, and stops
// everything.
func withService(ctx context.Context, o options, s service, do func(*stage) error) (notes []string, err error) {
	st := &stage{service: s, options: o}
	if st.dir, err = os.MkdirTemp("", "unstall-accuracy-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(st.dir)
	defer func() {
		err = errors.Join(err, st.stopPrograms())
		notes = st.notes
	}()
	if err := st.buildPrograms(ctx, o); err != nil {
		return nil, err
	}
	if err := st.startPrograms(ctx); err != nil {
		return nil, err
	}
	return nil, do(st)
}

// startPrograms starts the programs in the order of their dependencies.
func (st *stage) startPrograms(ctx context.Context) (err error) {
	var dependencies, clients []beside
	st.addresses, st.named = make(map[string]string), make(map[string]*process.Program)
	for _, b := range append([]beside{{}}, st.Known.Beside...) {
		if b.Client {
			clients = append(clients, b)
		}
		if b.Client && !b.Listens {
			continue
		}
		if st.addresses[b.Name], err = process.FreeAddress(); err != nil {
			return err
		}
		if b.Name != "" && !b.Client {
			dependencies = append(dependencies, b)
		}
	}
	for _, b := range dependencies {
		if _, err := st.launchProgram(ctx, b.Name, b.program, true); err != nil {
			return err
		}
	}
	if st.quota, err = st.newGroup(); err != nil {
		return err
	}
	if st.target, err = st.launchProgram(ctx, "", st.Known.program, true); err != nil {
		return err
	}
	for _, b := range clients {
		one, err := st.launchProgram(ctx, b.Name, b.program, false)
		if err == nil && b.Listens {
			err = one.Accepts(ctx, st.addresses[b.Name], st.patience)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// newGroup returns the group with the service's quota of CPUs, memory or writes, nil without one.
func (st *stage) newGroup() (group *process.Quota, err error) {
	switch k := st.Known; {
	case k.Quota > 0:
		group, err = process.NewQuota(k.Quota)
	case k.Memory > 0:
		group, err = process.NewMemory(k.Memory)
	case k.IOPS > 0:
		group, err = process.NewIOPS(st.dir, k.IOPS)
	}
	for _, none := range []error{process.ErrNoQuota, process.ErrNoMemory, process.ErrNoIOPS} {
		if errors.Is(err, none) {
			return nil, fmt.Errorf("%w: %w", errSkip, err)
		}
	}
	return group, err
}

// launchProgram starts a program, and waits until it accepts connections if it listens.
func (st *stage) launchProgram(ctx context.Context, name string, p program, listens bool) (*process.Program, error) {
	how := st.built[p.buildKey()]
	address := st.addresses[name]
	spec := process.Spec{Bin: how.bin, Args: how.args, Dir: st.dir, Env: st.buildEnv(how.env, p, address), Log: filepath.Join(st.dir, "said-"+name+".log")}
	if name == "" {
		spec.Group = st.quota
	}
	if how.listens != nil && listens {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		spec.Args = append(spec.Args, how.listens(host, port)...)
	}
	spec.Args = append(spec.Args, p.Args...)
	if p.Stdout != "" {
		spec.Args = append([]string{"-c", `exec "$0" "$@" >"$STDOUT"`, spec.Bin}, spec.Args...)
		spec.Bin, spec.Env = "/bin/sh", append(spec.Env, "STDOUT="+p.Stdout)
	}
	one, err := process.Launch(spec)
	if err != nil {
		return nil, err
	}
	st.running, st.named[name] = append(st.running, one), one
	if listens {
		err = one.Accepts(ctx, address, st.patience)
	}
	return one, err
}

// startCompetitors starts the programs that compute beside the service.
func (st *stage) startCompetitors() error {
	for range st.busy {
		one, err := process.Launch(process.Spec{Bin: "/bin/sh", Args: []string{"-c", "while :; do :; done"}, Dir: st.dir, Log: filepath.Join(st.dir, "said-busy.log")})
		if err != nil {
			return err
		}
		st.running = append(st.running, one)
	}
	return nil
}

// settings are the variables of the runner's environment that a service must not inherit.
var settings = []string{"GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG", "GOTRACEBACK", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "MALLOC_ARENA_MAX"}

func (st *stage) buildEnv(base []string, p program, address string) []string {
	if base == nil {
		base = os.Environ()
	}
	env := slices.DeleteFunc(slices.Clone(base), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(settings, name)
	})
	for name, at := range st.addresses {
		if name == "" {
			name = "service"
		}
		env = append(env, "ADDR_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))+"="+at)
	}
	if address != "" {
		env = append(env, "ADDR="+address)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		env = append(env, name+"="+p.Env[name])
	}
	return env
}

// stopPrograms stops all programs, the last started first.
func (st *stage) stopPrograms() (err error) {
	for _, p := range slices.Backward(st.running) {
		err = errors.Join(err, p.Stop())
	}
	return errors.Join(err, st.quota.Remove())
}

// checkAlive returns an error for a program that ended too early.
func (st *stage) checkAlive() error {
	for _, p := range st.running {
		if !p.Running() {
			return cmp.Or(p.Failed(), fmt.Errorf("%s ended before it was asked to", p.Name))
		}
	}
	return nil
}

// othersCPUShare returns the share of the host's CPUs that programs other than the service and
// those beside it used while do ran.
func (st *stage) othersCPUShare(do func() (used float64, err error)) (share float64, err error) {
	look := func() (busy, ours float64) {
		busy, stolen := lab.HostBusySeconds()
		ours = lab.CPUSeconds(os.Getpid())
		for _, p := range st.running {
			for _, pid := range processTree(p.PID) {
				ours += lab.CPUSeconds(pid)
			}
		}
		return busy + stolen, ours
	}
	busy, ours := look()
	began := time.Now()
	used, err := do()
	busyThen, oursThen := look()
	seconds := time.Since(began).Seconds() * float64(runtime.NumCPU())
	return max(0, (busyThen-busy)-(oursThen-ours)-used) / seconds, err
}

// processTree returns a process with all its descendants: the workers of a server, the connections
// of a database.
func processTree(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", all[i])) // the pattern is well-formed
		for _, name := range lists {
			text, _ := os.ReadFile(name) // a process that has ended has none
			for _, child := range strings.Fields(string(text)) {
				if n, err := strconv.Atoi(child); err == nil {
					all = append(all, n)
				}
			}
		}
	}
	return all
}
