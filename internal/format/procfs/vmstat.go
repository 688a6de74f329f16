package procfs

import (
	"bytes"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// vmstatSeries are the counters of /proc/vmstat that become series
// (include/linux/vm_event_item.h, mm/vmstat.c). Several that have one name are added up.
var vmstatSeries = map[string]string{
	"pgfault":    evidence.SeriesHostFaults, // minor and major
	"pgmajfault": evidence.SeriesHostMajorFaults,
	"pswpin":     evidence.SeriesHostSwapIn,
	"pswpout":    evidence.SeriesHostSwapOut,
	"oom_kill":   evidence.SeriesHostOOMKills,
	"nr_dirtied": evidence.SeriesHostDirtied,
	"nr_written": evidence.SeriesHostWritten,

	"allocstall":              evidence.SeriesHostAllocStalls,
	"pgsteal_kswapd":          evidence.SeriesHostReclaimBackground,
	"pgsteal_direct":          evidence.SeriesHostReclaimDirect,
	"pgscan_kswapd":           evidence.SeriesHostReclaimBackgroundScanned,
	"pgscan_direct":           evidence.SeriesHostReclaimDirectScanned,
	"workingset_refault":      evidence.SeriesHostRefaultsFiles, // before 5.9, when files alone had any
	"workingset_refault_anon": evidence.SeriesHostRefaultsAnonymous,
	"workingset_refault_file": evidence.SeriesHostRefaultsFiles,

	"compact_stall":           evidence.SeriesHostCompactStalls,
	"compact_fail":            evidence.SeriesHostCompactFailures,
	"compact_success":         evidence.SeriesHostCompactSuccesses,
	"compact_migrate_scanned": evidence.SeriesHostCompactScanned,
	"compact_free_scanned":    evidence.SeriesHostCompactScanned,
	"compact_daemon_wake":     evidence.SeriesHostCompactDaemon,

	"thp_fault_alloc":           evidence.SeriesHostTHPFaults,
	"thp_fault_fallback":        evidence.SeriesHostTHPFallbacks,
	"thp_collapse_alloc":        evidence.SeriesHostTHPCollapses,
	"thp_collapse_alloc_failed": evidence.SeriesHostTHPCollapseFailures,
	"thp_split":                 evidence.SeriesHostTHPSplits, // before 4.5
	"thp_split_page":            evidence.SeriesHostTHPSplits,
	"thp_split_pmd":             evidence.SeriesHostTHPMappingSplits,
	"thp_deferred_split_page":   evidence.SeriesHostTHPDeferred,

	"numa_miss":           evidence.SeriesHostNUMAMisses,
	"numa_hint_faults":    evidence.SeriesHostNUMAFaults,
	"numa_pages_migrated": evidence.SeriesHostNUMAMigrated,
}

// zoned are counters that some kernels have once for each zone of memory, the zone behind them.
var zoned = []string{"allocstall", "pgsteal_kswapd", "pgsteal_direct", "pgscan_kswapd", "pgscan_direct"}

var zones = map[string]bool{"dma": true, "dma32": true, "normal": true, "high": true, "movable": true, "device": true}

func (p *parser) parseVmstat(line []byte) bool {
	key, value, ok := cutKey(line)
	if !ok {
		return false
	}
	name, unit, factor := vmstatSeries[string(key)], "1/s", 1.
	switch string(key) { // in KiB, whatever the names say
	case "pgpgin":
		name, unit, factor = evidence.SeriesHostBlockRead, "bytes/s", 1024
	case "pgpgout":
		name, unit, factor = evidence.SeriesHostBlockWritten, "bytes/s", 1024
	}
	if name == "" {
		if i := bytes.LastIndexByte(key, '_'); i > 0 && zones[string(key[i+1:])] {
			for _, z := range zoned {
				if string(key[:i]) == z {
					name = vmstatSeries[z]
				}
			}
		}
	}
	if name == "" {
		p.ignored++
		return true
	}
	n, ok := format.ParseDigits(value)
	if ok {
		p.sumCounter(&p.host, name, unit, float64(n)*factor)
	}
	return ok
}

// memoryLines are the lines of /proc/meminfo that become series.
var memoryLines = map[string]string{
	"MemFree":       evidence.SeriesHostMemoryFree,
	"MemAvailable":  evidence.SeriesHostMemoryAvailable,
	"Dirty":         evidence.SeriesHostMemoryDirty,
	"Writeback":     evidence.SeriesHostMemoryWriteback,
	"AnonHugePages": evidence.SeriesHostMemoryHugePages,
}

func (p *parser) parseMeminfo(line []byte) bool {
	key, value, ok := cutKey(line)
	if !ok {
		return false
	}
	var to *reading
	switch string(key) {
	case "Cached", "Buffers":
		v, ok := parseKiB(value)
		p.sumGauge(&p.host, evidence.SeriesHostMemoryCache, "bytes", v)
		return ok
	case "MemTotal":
		to = &p.memory
	case "SwapTotal":
		to = &p.swap[0]
	case "SwapFree":
		to = &p.swap[1]
	}
	name := memoryLines[string(key)]
	if to == nil && name == "" {
		p.ignored++
		return true
	}
	v, ok := parseKiB(value)
	switch {
	case ok && to != nil:
		*to = reading{v, p.number}
	case ok:
		p.addReading(&p.host, name, "bytes", false, v)
	}
	return ok
}

// swapUsed is the difference of two lines.
func (p *parser) swapUsed() {
	total, free := p.swap[0], p.swap[1]
	if p.swap = [2]reading{}; total.line == 0 || free.line == 0 {
		return
	}
	p.settings.set(p, evidence.FactSwap, sizeOf(total.value), total.value, total.line)
	if total.value > 0 {
		p.addReading(&p.host, evidence.SeriesHostSwapUsed, "bytes", false, max(0, total.value-free.value))
	}
}

// hugeOrder is the order of a huge page's block: 512 pages.
const hugeOrder = 9

// parseBuddyinfo reads "Node 0, zone   Normal  15443   5609 …": how many free blocks there are of 1,
// 2, 4 … pages.
func (p *parser) parseBuddyinfo(line []byte) bool {
	_, rest, ok := strings.Cut(string(line), " zone ")
	f := strings.Fields(rest)
	if !ok || len(f) < hugeOrder+2 {
		return false
	}
	var bytes float64
	for order, digits := range f[1:] {
		n, ok := format.ParseDigits([]byte(digits))
		if !ok || order > 30 {
			return false
		}
		if order >= hugeOrder {
			bytes += float64(n) * 4096 * float64(int64(1)<<order)
		}
	}
	p.sumGauge(&p.host, evidence.SeriesHostMemoryFreeHuge, "bytes", bytes)
	return true
}
