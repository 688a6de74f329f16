package sample

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/operate/top"
)

// Host reads the machine's figures from /proc/stat, /proc/pressure (https://docs.kernel.org/accounting/psi.html),
// /proc/vmstat and /proc/meminfo. It leaves out files that a kernel does not have.
type Host struct {
	root  string
	files map[string]*os.File
	buf   []byte
	now   func() time.Time
	turn  int
	was   [8]float64 // ticks of /proc/stat
	ticks float64    // sum over all modes
}

// OpenHost returns a reader of the machine. It opens each file when it first reads it.
func OpenHost(now func() time.Time) *Host {
	return &Host{root: "/proc", files: make(map[string]*os.File), buf: make([]byte, 64<<10), now: now}
}

// Read reads the files once, and every second time those that change slowly.
func (h *Host) Read(context.Context) (out []top.Reading, err error) {
	at := h.now()
	add := func(id string, kind top.Kind, scale, v float64) {
		out = append(out, top.Reading{ID: id, Kind: kind, Scale: scale, Value: v, At: at})
	}
	if text := h.readFile("stat"); text != nil {
		h.addCPUModes(text, add)
	}
	for _, x := range [][2]string{{"pressure/cpu", "host/pressure-cpu"}, {"pressure/memory", "host/pressure-memory"}, {"pressure/io", "host/pressure-io"}} {
		// some avg10=0.00 avg60=0.00 avg300=0.00 total=12345
		_, rest, ok := bytes.Cut(h.readFile(x[0]), []byte("total="))
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		if v, err := strconv.ParseFloat(string(line), 64); ok && err == nil {
			add(x[1], top.Total, 100e-6, v)
		}
	}
	if h.turn++; h.turn%2 == 1 {
		if text := h.readFile("vmstat"); text != nil {
			if v, ok := parseNumberAfter(text, "compact_stall "); ok {
				add("host/compact-stalls", top.Total, 1, v)
			}
			if v, ok := parseNumberAfter(text, "pswpin "); ok {
				add("host/swap-in", top.Total, 1, v)
			}
			stalls, any := 0., false
			for _, zone := range []string{"allocstall_dma32 ", "allocstall_normal ", "allocstall_movable "} {
				v, ok := parseNumberAfter(text, zone)
				stalls, any = stalls+v, any || ok
			}
			if any {
				add("host/alloc-stalls", top.Total, 1, stalls)
			}
		}
		if v, ok := parseKiB(h.readFile("meminfo"), "\nMemAvailable:"); ok {
			add("host/available", top.Gauge, 1, v)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("/proc has no figures of the host")
	}
	return out, nil
}

// addCPUModes reads "cpu user nice system idle iowait irq softirq steal …" of /proc/stat. It adds each mode as percent of
// the time of all CPUs since the last reading.
func (h *Host) addCPUModes(text []byte, add func(string, top.Kind, float64, float64)) {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	f := bytes.Fields(line)
	if len(f) < 9 || string(f[0]) != "cpu" {
		return
	}
	var now [8]float64
	all := 0.
	for i := range now {
		now[i], _ = strconv.ParseFloat(string(f[i+1]), 64)
		all += now[i]
	}
	was, d := h.was, all-h.ticks
	first := h.ticks == 0
	h.was, h.ticks = now, all
	if first || d <= 0 {
		return
	}
	part := func(modes ...int) (sum float64) {
		for _, m := range modes {
			sum += max(0, now[m]-was[m])
		}
		return 100 * sum / d
	}
	add("host/user", top.Gauge, 1, part(0, 1))
	add("host/system", top.Gauge, 1, part(2))
	add("host/iowait", top.Gauge, 1, part(4))
	add("host/softirq", top.Gauge, 1, part(5, 6))
	add("host/steal", top.Gauge, 1, part(7))
}

// readFile returns the content of a file, nil if it does not exist.
func (h *Host) readFile(name string) []byte {
	f, tried := h.files[name]
	if !tried {
		f, _ = os.Open(h.root + "/" + name)
		h.files[name] = f
	}
	if f == nil {
		return nil
	}
	n, _ := f.ReadAt(h.buf, 0)
	return h.buf[:n]
}

// parseNumberAfter returns the number behind a name at the beginning of a line.
func parseNumberAfter(text []byte, name string) (float64, bool) {
	at := bytes.Index(text, []byte("\n"+name))
	if at < 0 {
		return 0, false
	}
	line, _, _ := bytes.Cut(text[at+1+len(name):], []byte("\n"))
	v, err := strconv.ParseFloat(string(line), 64)
	return v, err == nil
}

// Close closes the files.
func (h *Host) Close() error {
	for _, f := range h.files {
		if f != nil {
			_ = f.Close()
		}
	}
	return nil
}
