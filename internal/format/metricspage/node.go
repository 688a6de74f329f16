package metricspage

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/stats"
	"github.com/unstall/unstall/internal/format"
)

// nodeFiles writes a page of node_exporter as the files of /proc that it came from, in the form that package procfs reads
// (https://github.com/prometheus/node_exporter/tree/master/collector).
func nodeFiles(p *page) (lines []format.Line) {
	add := func(text string, args ...any) {
		lines = append(lines, format.Line{Text: []byte(fmt.Sprintf(text, args...)), Number: p.line})
	}
	head := func(path string) { add("-- %d %s --", p.t, path) }
	cpus, names := modesOf(p)
	if len(names) > 0 {
		head("/proc/stat")
		ticks := func(m map[string]float64) string {
			var all []string
			for _, mode := range []string{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"} {
				all = append(all, strconv.FormatFloat(math.Round(m[mode]*100), 'f', 0, 64))
			}
			return strings.Join(all, " ") + " 0 0"
		}
		total := make(map[string]float64)
		for _, n := range names {
			for mode, v := range cpus[n] {
				total[mode] += v
			}
		}
		add("cpu  %s", ticks(total))
		for i, n := range names {
			add("cpu%d %s", i, ticks(cpus[n]))
		}
		for _, x := range [][2]string{{"node_context_switches_total", "ctxt"}, {"node_boot_time_seconds", "btime"}, {"node_forks_total", "processes"}, {"node_procs_running", "procs_running"}, {"node_procs_blocked", "procs_blocked"}} {
			if v := p.firstOf(x[0]); !math.IsNaN(v) {
				add("%s %s", x[1], formatPlain(v))
			}
		}
	}
	if load := p.firstOf("node_load1"); !math.IsNaN(load) {
		head("/proc/loadavg")
		add("%.2f %.2f %.2f 1/100 1000", load, stats.ZeroIfNaN(p.firstOf("node_load5")), stats.ZeroIfNaN(p.firstOf("node_load15")))
	}
	if devices := labelsOf(p, "node_disk_reads_completed_total", "device"); len(devices) > 0 {
		head("/proc/diskstats")
		for i, d := range devices {
			of := func(name string, scale float64) string {
				return formatPlain(stats.ZeroIfNaN(p.sumOf(name, func(s *sample) bool { return s.label("device") == d })) * scale)
			}
			weighted := of("node_disk_io_time_weighted_seconds_total", 1e3)
			if math.IsNaN(p.firstOf("node_disk_io_time_weighted_seconds_total")) { // not on the page: the total time of all requests is the same
				mine := func(s *sample) bool { return s.label("device") == d }
				weighted = formatPlain((stats.ZeroIfNaN(p.sumOf("node_disk_read_time_seconds_total", mine)) + stats.ZeroIfNaN(p.sumOf("node_disk_write_time_seconds_total", mine))) * 1e3)
			}
			add("%4d %7d %s %s %s %s %s %s %s %s %s %s %s %s", 8, i*16, d,
				of("node_disk_reads_completed_total", 1), of("node_disk_reads_merged_total", 1), of("node_disk_read_bytes_total", 1./512), of("node_disk_read_time_seconds_total", 1e3),
				of("node_disk_writes_completed_total", 1), of("node_disk_writes_merged_total", 1), of("node_disk_written_bytes_total", 1./512), of("node_disk_write_time_seconds_total", 1e3),
				of("node_disk_io_now", 1), of("node_disk_io_time_seconds_total", 1e3), weighted)
		}
	}
	section := func(path, prefix, suffix string, line func(name string, v float64)) {
		begun := false
		for i := range p.samples {
			s := &p.samples[i]
			name, ok := strings.CutPrefix(s.name, prefix)
			if !ok || s.labels != "" || !strings.HasSuffix(name, suffix) {
				continue
			}
			if !begun {
				head(path)
				begun = true
			}
			line(strings.TrimSuffix(name, suffix), s.v)
		}
	}
	section("/proc/meminfo", "node_memory_", "_bytes", func(name string, v float64) {
		for _, kind := range []string{"anon", "file"} {
			if of, ok := strings.CutSuffix(name, "_"+kind); ok {
				name = of + "(" + kind + ")"
			}
		}
		add("%s: %s kB", name, formatPlain(v/1024))
	})
	section("/proc/vmstat", "node_vmstat_", "", func(name string, v float64) { add("%s %s", name, formatPlain(v)) })
	for _, x := range [][3]string{{"cpu", "node_pressure_cpu_waiting_seconds_total", ""}, {"memory", "node_pressure_memory_waiting_seconds_total", "node_pressure_memory_stalled_seconds_total"}, {"io", "node_pressure_io_waiting_seconds_total", "node_pressure_io_stalled_seconds_total"}} {
		some := p.firstOf(x[1])
		if math.IsNaN(some) {
			continue
		}
		head("/proc/pressure/" + x[0])
		add("some avg10=0.00 avg60=0.00 avg300=0.00 total=%s", formatPlain(some*1e6))
		if full := p.firstOf(x[2]); x[2] != "" && !math.IsNaN(full) {
			add("full avg10=0.00 avg60=0.00 avg300=0.00 total=%s", formatPlain(full*1e6))
		}
	}
	return lines
}

// modesOf returns the seconds of each CPU by mode, and the CPUs in order.
func modesOf(p *page) (cpus map[string]map[string]float64, names []string) {
	cpus = make(map[string]map[string]float64)
	for i := range p.samples {
		s := &p.samples[i]
		if s.name != "node_cpu_seconds_total" && s.name != "node_cpu" { // before 0.16
			continue
		}
		n := s.label("cpu")
		if cpus[n] == nil {
			if len(names) == 1024 {
				continue
			}
			cpus[n] = make(map[string]float64)
			names = append(names, n)
		}
		cpus[n][s.label("mode")] = s.v
	}
	sort.Slice(names, func(i, j int) bool {
		return len(names[i]) < len(names[j]) || len(names[i]) == len(names[j]) && names[i] < names[j]
	})
	return cpus, names
}

// labelsOf returns the values of a label, in the order of the page.
func labelsOf(p *page, name, label string) (all []string) {
	for i := range p.samples {
		if s := &p.samples[i]; s.name == name && len(all) < 256 {
			if v := s.label(label); v != "" && !strings.ContainsAny(v, " \t\n") {
				all = append(all, v)
			}
		}
	}
	return all
}

// formatPlain writes a number without an exponent, as the kernel and Redis do.
func formatPlain(v float64) string {
	if v == math.Trunc(v) || math.Abs(v) >= 1e9 {
		return strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	}
	if v < 10 {
		return strconv.FormatFloat(v, 'f', 6, 64)
	}
	return strconv.FormatFloat(math.Round(v), 'f', 0, 64)
}

// stampText writes s since the epoch in the form of the comment before a page.
func stampText(s int64) string { return time.Unix(s, 0).UTC().Format(time.RFC3339) }

// formatUTC writes a time as date(1) does.
func formatUTC(ns int64) string { return time.Unix(0, ns).UTC().Format("Mon Jan _2 15:04:05 UTC 2006") }
