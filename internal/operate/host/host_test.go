package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/analyze/incident"
	"github.com/unstall/unstall/internal/analyze/workload"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/operate/host"
)

// process is a process of a simulated host. Figures are per second, CPU time is in CPUs.
type process struct {
	pid, parent  int
	name         string
	group        string
	user, system float64
	faults       int
	delay        float64 // threads that waited for a CPU
	flags        int
	dirtied      int // pages
	throttled    bool
}

// machine is a simulated host of 2 CPUs.
type machine struct {
	processes       []process
	user, system    float64 // CPUs
	softirq, steal  float64
	cpu, memory, io float64 // pressure
	noPressure      bool
	oom, swap       int
}

// archive is the recording of a machine over 4 s.
func (m machine) archive(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	const began = 1763689985_000000000
	for second := range 5 {
		at := func(path string) { fmt.Fprintf(&b, "-- %d %s --\n", began+int64(second)*1e9, path) }
		ticks := func(cores float64) int { return int(cores * 100 * float64(second)) }
		at("/proc/stat")
		idle := 2 - m.user - m.system - m.softirq - m.steal
		fmt.Fprintf(&b, "cpu  %d 0 %d %d 0 0 %d %d 0 0\ncpu0 1 0 1 1 0 0 0 0 0 0\ncpu1 1 0 1 1 0 0 0 0 0 0\nbtime 1763600000\n", ticks(m.user), ticks(m.system), ticks(max(0, idle)), ticks(m.softirq), ticks(m.steal))
		if !m.noPressure {
			for _, x := range []struct {
				what  string
				share float64
			}{{"cpu", m.cpu}, {"memory", m.memory}, {"io", m.io}} {
				at("/proc/pressure/" + x.what)
				fmt.Fprintf(&b, "some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\n", int(x.share*1e6*float64(second)))
			}
		}
		at("/proc/vmstat")
		fmt.Fprintf(&b, "pswpin %d\noom_kill %d\npgsteal_direct 0\n", m.swap*second, m.oom*second)
		for _, p := range m.processes {
			at(fmt.Sprintf("/proc/%d/stat", p.pid))
			fmt.Fprintf(&b, "%d (%s) S %d 1 1 0 -1 %d %d 0 0 0 %d %d 0 0 20 0 1 0 %d 1000000 100 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n",
				p.pid, p.name, p.parent, p.flags, p.faults*second, ticks(p.user), ticks(p.system), 1000+p.pid)
			if second == 0 {
				at(fmt.Sprintf("/proc/%d/cgroup", p.pid))
				fmt.Fprintf(&b, "0::%s\n", p.group)
			}
			at(fmt.Sprintf("/proc/%d/task/%d/schedstat", p.pid, p.pid))
			fmt.Fprintf(&b, "%d %d 10\n", int((p.user+p.system)*1e9)*second, int(p.delay*1e9)*second)
			at(fmt.Sprintf("/proc/%d/io", p.pid))
			fmt.Fprintf(&b, "read_bytes: 0\nwrite_bytes: %d\n", 4096*p.dirtied*second)
			if p.throttled {
				at("/sys/fs/cgroup" + p.group + "/cpu.stat")
				fmt.Fprintf(&b, "usage_usec %d\nnr_periods %d\nnr_throttled %d\nthrottled_usec %d\n", 500000*second, 10*second, 4*second, 200000*second)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "procfs.txt")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (m machine) report(t *testing.T) *host.Report {
	t.Helper()
	artifacts, done, errs := discover.Files([]string{m.archive(t)}, nil)
	defer done()
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	b := incident.NewBundle()
	for _, a := range artifacts {
		if err := incident.Read(t.Context(), a, b); err != nil {
			t.Fatal(err)
		}
	}
	r := host.Of(incident.Normalize(b))
	if r == nil {
		t.Fatal("no host was found in it")
	}
	return r
}

// servers are the processes of a healthy host: a server with two workers, a kernel thread, a shell.
func servers() []process {
	return []process{
		{pid: 2, name: "kthreadd", group: "/", flags: 0x200000},
		{pid: 30, parent: 2, name: "kworker/0:1", group: "/", system: .01, flags: 0x200000},
		{pid: 100, parent: 1, name: "bash", group: "/user.slice/user-0.slice/session-1.scope"},
		{pid: 110, parent: 100, name: "client", group: "/user.slice/user-0.slice/session-1.scope", user: .1},
		{pid: 200, parent: 1, name: "nginx", group: "/system.slice/nginx.service"},
		{pid: 201, parent: 200, name: "nginx", group: "/system.slice/nginx.service", user: .2, system: .05},
		{pid: 202, parent: 200, name: "nginx", group: "/system.slice/nginx.service", user: .2, system: .05},
		{pid: 300, parent: 1, name: "nginx", group: "/docker/" + strings.Repeat("1a2b", 16), user: .1},
	}
}

func TestHealthy(t *testing.T) {
	r := machine{processes: servers(), user: .6, system: .12, cpu: .03, io: .01}.report(t)
	if len(r.Findings) != 0 {
		t.Errorf("found %+v", r.Findings)
	}
	if got := r.Healthy(); !strings.HasPrefix(got, "nothing found: the CPUs were busy 36 % of the time, and tasks waited for a CPU 3 %") {
		t.Error(got)
	}
	want := map[string]struct {
		unit string
		cpu  float64
	}{
		"nginx 200 (3 processes)": {"nginx", .5}, "nginx 300": {"container 1a2b1a2b1a2b", .1}, "client 110": {"", .1}, "bash 100": {"", 0}, "kernel threads (2 processes)": {"", .01},
	}
	for i := range r.Services {
		s := &r.Services[i]
		x, ok := want[s.Title()]
		if !ok || s.Unit != x.unit || s.CPU == nil || *s.CPU < x.cpu-.001 || *s.CPU > x.cpu+.001 {
			t.Errorf("service %s of %q: %v CPUs, want %+v", s.Title(), s.Unit, s.CPU, x)
		}
		delete(want, s.Title())
	}
	if len(want) > 0 {
		t.Errorf("not among the services: %v", want)
	}
	if r.Services[0].Class != workload.User {
		t.Errorf("class %s", r.Services[0].Class)
	}
}

func TestFindings(t *testing.T) {
	add := func(more ...process) []process { return append(servers(), more...) }
	waiting := servers()
	for i := range waiting {
		if waiting[i].name == "nginx" && waiting[i].user > 0 {
			waiting[i].delay = .4
		}
	}
	batch := process{pid: 900, parent: 1, name: "batch", group: "/", user: 1.2, delay: .3}
	throttled := process{pid: 901, parent: 1, name: "api", group: "/system.slice/api.service", user: .5, throttled: true}
	for name, x := range map[string]struct {
		m     machine
		cause string
		title string
		takes string
		pays  string
	}{
		"a neighbour": {machine{processes: append(slices.Clone(waiting), batch), user: 1.8, system: .15, cpu: .8}, "linux.noisy-neighbour",
			"All 2 CPUs are busy: batch 900 uses 1.2 CPUs, and nginx 300 waits for a CPU 80 % of its runnable time.", "batch 900", "nginx 300"},
		"too much of one": {machine{processes: add(process{pid: 900, parent: 1, name: "batch", group: "/", user: 1.9, delay: 6}), user: 1.95, cpu: .95}, "linux.cpu-saturation",
			"All 2 CPUs are busy: batch 900 waits for one 76 % of its runnable time.", "batch 900", "batch 900"},
		"stolen":  {machine{processes: servers(), user: .5, steal: .8, cpu: .1}, "linux.noisy-neighbour", "The hypervisor gives 40 % of the CPU time to other machines.", "", "nginx 200 (3 processes)"},
		"a quota": {machine{processes: add(throttled), user: 1, cpu: .05}, "linux.cpu-throttled", "A CPU quota throttles api 901 in 40 % of its periods.", "", "api 901"},
		"swap":    {machine{processes: servers(), user: .5, memory: .3, swap: 2000}, "linux.swap", "Services wait for memory that is read back from swap 30 % of the time.", "", ""},
		"swap, without pressure": {machine{processes: servers(), user: .5, swap: 2000, noPressure: true}, "linux.swap",
			"Services wait for memory that is read back from swap; this kernel does not measure how long.", "", ""},
		"no memory left": {machine{processes: servers(), user: .5, memory: .02, oom: 1}, "linux.memory-reclaim", "The kernel killed processes because memory ran out.", "", ""},
		"disks": {machine{processes: add(process{pid: 902, parent: 1, name: "db", group: "/", user: .1, dirtied: 1000}), user: .5, io: .6}, "linux.disk-sync",
			"Services wait for disks 60 % of the time: db 902 reads and writes most.", "db 902", ""},
		"interrupts": {machine{processes: servers(), user: .5, softirq: .6, cpu: .1}, "linux.softirq", "Interrupts, usually of the network, take 55 % of the busy CPU time.", "", ""},
		"the kernel": {machine{processes: add(process{pid: 903, parent: 1, name: "heap", group: "/", user: .1, system: .9, faults: 500000}), user: .5, system: 1, cpu: .1}, "linux.page-faults",
			"The kernel uses more CPU time than the programs (1 CPU against 0.5 CPUs), most of it for heap 903: page faults.", "heap 903", ""},
		"busy, and nobody waits": {machine{processes: add(process{pid: 900, parent: 1, name: "batch", group: "/", user: 1.4}), user: 1.9, cpu: .05}, "", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := x.m.report(t)
			if x.cause == "" {
				if len(r.Findings) > 0 {
					t.Errorf("found %+v", r.Findings)
				}
				return
			}
			if len(r.Findings) != 1 {
				t.Fatalf("found %+v", r.Findings)
			}
			f := r.Findings[0]
			first := func(all []string) string {
				if len(all) == 0 {
					return ""
				}
				return all[0]
			}
			if f.Cause != x.cause || f.Title != x.title || first(f.Takes) != x.takes || first(f.Pays) != x.pays {
				t.Errorf("%s: %s\ntakes %q, pays %q", f.Cause, f.Title, f.Takes, f.Pays)
			}
		})
	}
}
