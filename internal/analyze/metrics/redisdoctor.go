package metrics

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// RedisAdvice is advice of a server's own diagnosis, LATENCY DOCTOR or MEMORY DOCTOR, recorded or computed, with a comment.
type RedisAdvice struct {
	Doctor string // LatencyDoctor, MemoryDoctor
	About  string // the subject: the event's name as the server calls it, "huge pages", "memory", "nothing"
	Says   string // in short
	But    string // why the advice is wrong or misleads; "": it is right as far as known
	Said   bool   // the server was asked; else the advice follows from the doctor's rules
	Origin evidence.Origin
}

// The doctors.
const (
	LatencyDoctor = "LATENCY DOCTOR"
	MemoryDoctor  = "MEMORY DOCTOR"
)

// latencyAdvice is LATENCY DOCTOR's advice for each event of the latency monitor (createLatencyReport of src/latency.c); says
// is a part of what it prints.
var latencyAdvice = []struct{ event, text, says string }{
	{"command", "slow commands", "look at the slow log; large values, sorting and set operations take long"},
	{"fast-command", "scheduling", "the kernel runs it late: check CPU and memory of the host"},
	{"fork", "Fork rate", "forks take long: a better virtual machine, or a smaller server"},
	{"aof-fsync-always", "appendfsync", "appendfsync everysec instead of always"},
	{"aof-write-pending-fsync", "disk", "the disk is slow or shared: use a local disk or an SSD, with fewer other writes"},
	{"aof-write-active-child", "no-appendfsync-on-rewrite", "no-appendfsync-on-rewrite yes, or a faster disk"},
	{"aof-write-alone", "disk", "a faster disk"},
	{"expire-cycle", "hz", "many keys expire at once: spread them, raise hz"},
	{"eviction-del", "large objects", "large values are evicted: make them smaller"},
	{"eviction-cycle", "eviction", "many keys are evicted at once: do not lower maxmemory in one step"},
}

// DoctorSays returns what the doctors say, or would say. Advice that was recorded is taken as printed; other advice is
// computed by the doctors' own rules. The doctors do not see the kernel's release, waiting clients or maxmemory.
func (r *Redis) DoctorSays() (all []RedisAdvice) {
	huge := HugePagesOf(r.b, r.subject, r.window)
	text, asked := r.Doctor[LatencyDoctor]
	add := func(doctor, about, says, but string) {
		_, said := r.Doctor[doctor]
		all = append(all, RedisAdvice{doctor, about, says, but, said, r.Origin})
	}
	monitor, known := r.Setting("latency-monitor-threshold")
	switch {
	case asked && strings.Contains(text, "monitoring is disabled"), !asked && known && monitor.Number == 0 && len(r.Events) == 0:
		add(LatencyDoctor, "nothing", "nothing: its monitor is off (latency-monitor-threshold 0)", "this does not mean that nothing is slow")
	case asked && strings.Contains(text, "no latency spike was observed"), !asked && known && monitor.Number > 0 && len(r.Events) == 0:
		add(LatencyDoctor, "nothing", "no spike was observed", "it sees single commands, forks and disk events, not the queue in the sockets while the main thread is saturated")
	}
	for _, x := range latencyAdvice {
		if asked && strings.Contains(text, x.text) && strings.Contains(text, x.event) || !asked && r.hasEvent(x.event) {
			but := ""
			if x.event == "fork" && r.splitsPages(huge) {
				but = "huge pages also make it shorter: this kernel splits them on write"
			}
			add(LatencyDoctor, x.event, x.says, but)
		}
	}
	if asked && strings.Contains(text, "huge pages") || !asked && huge.Resident.Number > 0 && !huge.Off {
		but := ""
		switch {
		case r.splitsPages(huge):
			but = "wrong on Linux " + huge.Kernel + ": from 5.8 on a write after a fork copies 4 KiB of a huge page, not 2 MiB, and the fork is many times shorter with them"
		case huge.Kernel == "":
			but = "right only up to Linux 5.7; the version here is unknown"
		}
		add(LatencyDoctor, "huge pages", "switch transparent huge pages off (echo never >/sys/kernel/mm/transparent_hugepage/enabled)", but)
	}
	r.memoryDoctor(add)
	return all
}

// splitsPages reports whether the kernel copies a small page of a huge one that is written to after a fork (5.8, commit
// 3917c80280c9).
func (r *Redis) splitsPages(h *HugePages) bool {
	is, known := SplitsHugePages(h.Kernel)
	return known && is
}

func (r *Redis) hasEvent(name string) bool {
	for _, e := range r.Events {
		if e.Name == name {
			return true
		}
	}
	return false
}

// Thresholds of getMemoryDoctorReport of src/object.c.
const (
	doctorLeast  = 5 << 20 // bytes: below, it says nothing
	doctorPeak   = 1.5     // peak ÷ used
	doctorSpread = 1.4     // resident ÷ used
	doctorBytes  = 10 << 20
	doctorClient = 200 << 10 // bytes of buffers for each client
)

// memoryDoctor applies the rules of MEMORY DOCTOR.
func (r *Redis) memoryDoctor(add func(doctor, about, says, but string)) {
	text, asked := r.Doctor[MemoryDoctor]
	says := func(printed string, would bool) bool {
		if asked {
			return strings.Contains(text, printed)
		}
		return would
	}
	if !asked && !r.Used.Known() {
		return
	}
	some := false
	tell := func(is bool, text, but string) {
		if is {
			some = true
			add(MemoryDoctor, "memory", text, but)
		}
	}
	enough := r.Used.Number >= doctorLeast
	tell(says("Peak memory", enough && r.Peak.Number > doctorPeak*r.Used.Number), "it used much more memory before than now, so that fragmentation looks high", "")
	tell(says("High total RSS", enough && r.Fragmentation.Number > doctorSpread && r.FragmentationBytes.Number > doctorBytes), "resident memory is much larger than used memory: fragmentation; activedefrag may help", "")
	tell(says("Big client buffers", enough && r.Clients.Number > 0 && r.ClientMemory.Number/r.Clients.Number > doctorClient), "client buffers are large: some clients do not read, or pipelines are long", "")
	if some || !(asked || enough) {
		return
	}
	but := ""
	if r.MaxMemory.Number > 0 && (r.Evicted.Number > 0 || r.ErrorKinds["OOM"].Number > 0) {
		but = "it does not check maxmemory, evictions or refused writes"
	}
	if asked || but != "" {
		add(MemoryDoctor, "memory", "no problem found", but)
	}
}

// SplitsHugePages reports whether a kernel copies only 4 KiB of a huge page that is written to after a fork (Linux 5.8 on),
// and whether its release is known.
func SplitsHugePages(release string) (splits, known bool) {
	major, rest, ok := strings.Cut(release, ".")
	minor, _, _ := strings.Cut(rest, ".")
	x, y := releasePart(major), releasePart(leadingDigits(minor))
	if !ok || x < 0 || y < 0 {
		return false, false
	}
	return x > 5 || x == 5 && y >= 8, true
}

// releasePart returns a number of a release, -1 if it has none.
func releasePart(s string) int {
	if s == "" || len(s) > 6 || leadingDigits(s) != s {
		return -1
	}
	n := 0
	for _, c := range s {
		n = 10*n + int(c-'0')
	}
	return n
}
