package sysstat

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// The kinds of rows.
const (
	other         = iota // known, and unused
	memoryOfHost         // vmstat
	processor            // mpstat, sar -u, avg-cpu of iostat
	softnet              // sar -n SOFT
	softirqs             // mpstat -I SCPU
	interrupts           // mpstat -I SUM
	disk                 // iostat, sar -d
	network              // sar -n DEV
	networkErrors        // sar -n EDEV
	ofProcess            // pidstat
	ofHost               // sar: one row
	kinds
)

// The first column of rows.
const (
	none  = iota // without a time
	tod          // a time of day
	epoch        // s since the epoch, or a time of day (pidstat -h)
)

// heading is the line above rows.
type heading struct {
	kind    int
	timed   int
	columns []string // behind the time
	at      map[string]int
	begins  int64 // ns of the day: the rows before it end then
	line    int64
	last    bool   // the name of a disk stands behind its figures: iostat -h
	name    string // of a disk, alone on the line above its figures: iostat -h before sysstat 11.5
}

// headingOf recognises headings by their columns, nil if words are none.
func headingOf(f []string) *heading {
	h := &heading{}
	if at, n := timeOf(f); n > 0 {
		h.timed, h.begins, f = tod, at, f[n:]
	} else if len(f) > 2 && f[0] == "#" && f[1] == "Time" {
		h.timed, f = epoch, f[2:]
	}
	if len(f) < 2 || len(f) > mostColumns {
		return nil
	}
	if h.timed == none {
		f = linuxNames(f)
	}
	h.columns = f
	has := func(names ...string) bool {
		for _, n := range names {
			if !slices.Contains(f, n) {
				return false
			}
		}
		return true
	}
	switch first := strings.TrimSuffix(f[0], ":"); {
	case h.timed == none && first == "r" && has("b", "swpd", "free", "id"):
		h.kind = memoryOfHost
	case h.timed == none && first == "avg-cpu" && has("%idle"):
		h.kind, h.columns = processor, f[1:]
	case h.timed == none && first == "Device" && (has("%util") || has("tps")):
		h.kind = disk
	case h.timed == none && f[len(f)-1] == "Device" && (has("%util") || has("tps")):
		h.kind, h.last, h.columns = disk, true, deviceFirst(f)
	case h.timed == none:
		return nil
	case has("%idle") && (first == "CPU" || first == "NODE"):
		h.kind = processor
	case first == "CPU" && has("total/s", "squeezd/s"):
		h.kind = softnet
	case first == "CPU" && has("NET_RX/s"):
		h.kind = softirqs
	case first == "CPU" && has("intr/s"):
		h.kind = interrupts
	case first == "DEV" && has("tps"):
		h.kind = disk
	case first == "IFACE" && has("rxpck/s"):
		h.kind = network
	case first == "IFACE" && has("rxdrop/s"):
		h.kind = networkErrors
	case has("Command") && (has("PID") || has("TGID")):
		h.kind = ofProcess
	case slices.ContainsFunc(f, func(n string) bool { return hostColumns[n].name != "" }) && allNames(f):
		h.kind = ofHost
	case allNames(f) && known[first]:
	default:
		return nil
	}
	h.at = make(map[string]int, len(h.columns))
	for i, n := range h.columns {
		if _, twice := h.at[n]; !twice {
			h.at[n] = i
		}
	}
	return h
}

// ofOthers are the names of columns in iostat -x of Solaris and of the BSDs, and those of Linux.
var ofOthers = map[string]string{"device": "Device", "kr/s": "rkB/s", "kw/s": "wkB/s", "actv": "aqu-sz", "qlen": "aqu-sz", "svc_t": "await", "asvc_t": "await", "ms/t": "await", "%b": "%util"}

// linuxNames gives the columns of a heading of iostat -x of another system the names that they have on Linux.
//
//	device    r/s    w/s   kr/s   kw/s wait actv  svc_t  %w  %b                        Solaris; with -n the device is the last
//	device       r/s     w/s     kr/s     kw/s  ms/r  ms/w  ms/o  ms/t qlen  %b        FreeBSD
func linuxNames(f []string) []string {
	if !slices.Contains(f, "%b") || !slices.Contains(f, "kr/s") || !slices.Contains(f, "device") {
		return f
	}
	f = slices.Clone(f)
	for i, n := range f {
		if name := ofOthers[n]; name != "" {
			f[i] = name
		}
	}
	return f
}

// deviceFirst puts the last word of a line before the others.
func deviceFirst(f []string) []string {
	n := len(f) - 1
	return append([]string{f[n]}, f[:n]...)
}

// allNames says whether no word is a figure.
func allNames(f []string) bool {
	return !slices.ContainsFunc(f, func(s string) bool { _, ok := parseNumber(s); return ok })
}

// known are first columns of tables of sysstat that are of no use here.
var known = map[string]bool{"CPU": true, "NODE": true, "IFACE": true, "INTR": true, "TTY": true, "kbhugfree": true, "dentunusd": true, "BUS": true, "FILESYSTEM": true,
	"call/s": true, "scall/s": true, "totsck": true, "irec/s": true, "ihdrerr/s": true, "imsg/s": true, "ierr/s": true, "active/s": true, "atmptf/s": true, "idgm/s": true,
	"irec6/s": true, "tcp6sck": true, "MHz": true, "rd/s": true, "FAN": true, "TEMP": true, "IN": true, "BAT": true, "runq-sz": true, "tcpsck": true}

// column is the series that a column becomes.
type column struct {
	name, unit string
	factor     float64
	gauge      bool
}

const kib = 1024

// hostColumns are columns of tables with one row of the host.
var hostColumns = map[string]column{
	"pgpgin/s":  {evidence.SeriesHostBlockRead, "bytes/s", kib, false},
	"pgpgout/s": {evidence.SeriesHostBlockWritten, "bytes/s", kib, false},
	"fault/s":   {evidence.SeriesHostFaults, "1/s", 1, false},
	"majflt/s":  {evidence.SeriesHostMajorFaults, "1/s", 1, false},
	"pgscank/s": {evidence.SeriesHostReclaimBackgroundScanned, "1/s", 1, false},
	"pgscand/s": {evidence.SeriesHostReclaimDirectScanned, "1/s", 1, false},

	"pswpin/s":  {evidence.SeriesHostSwapIn, "1/s", 1, false},
	"pswpout/s": {evidence.SeriesHostSwapOut, "1/s", 1, false},
	"proc/s":    {evidence.SeriesHostForks, "1/s", 1, false},
	"cswch/s":   {evidence.SeriesHostContextSwitches, "1/s", 1, false},
	"rtps":      {"", "", 0, false},
	"tps":       {evidence.SeriesHostDiskRequests, "1/s", 1, false},

	"runq-sz": {evidence.SeriesHostProcsRunning, "1", 1, true},
	"ldavg-1": {evidence.SeriesHostLoad1, "1", 1, true},
	"blocked": {evidence.SeriesHostProcsBlocked, "1", 1, true},

	"kbmemfree": {evidence.SeriesHostMemoryFree, "bytes", kib, true},
	"kbavail":   {evidence.SeriesHostMemoryAvailable, "bytes", kib, true},
	"kbdirty":   {evidence.SeriesHostMemoryDirty, "bytes", kib, true},
	"kbswpused": {evidence.SeriesHostSwapUsed, "bytes", kib, true},

	"%scpu": {evidence.SeriesHostPressureCPUSome, "1", .01, false},
	"%smem": {evidence.SeriesHostPressureMemorySome, "1", .01, false},
	"%fmem": {evidence.SeriesHostPressureMemoryFull, "1", .01, false},
	"%sio":  {evidence.SeriesHostPressureIOSome, "1", .01, false},
	"%fio":  {evidence.SeriesHostPressureIOFull, "1", .01, false},
}

// vmstatColumns are vmstat's but for CPU; si and so are KiB, and pages of 4 KiB are asked for.
var vmstatColumns = map[string]column{
	"r":    {evidence.SeriesHostProcsRunning, "1", 1, true},
	"b":    {evidence.SeriesHostProcsBlocked, "1", 1, true},
	"swpd": {evidence.SeriesHostSwapUsed, "bytes", kib, true},
	"free": {evidence.SeriesHostMemoryFree, "bytes", kib, true},
	"si":   {evidence.SeriesHostSwapIn, "1/s", 1. / 4, false},
	"so":   {evidence.SeriesHostSwapOut, "1/s", 1. / 4, false},
	"bi":   {evidence.SeriesHostBlockRead, "bytes/s", kib, false},
	"bo":   {evidence.SeriesHostBlockWritten, "bytes/s", kib, false},
	"in":   {evidence.SeriesHostInterrupts, "1/s", 1, false},
	"cs":   {evidence.SeriesHostContextSwitches, "1/s", 1, false},
}

// diskColumns are those of iostat and sar -d; what are MB with -m are MiB.
var diskColumns = map[string]column{
	"r/s":      {evidence.SeriesDiskReads, "1/s", 1, false},
	"w/s":      {evidence.SeriesDiskWrites, "1/s", 1, false},
	"f/s":      {evidence.SeriesDiskFlushes, "1/s", 1, false},
	"rkB/s":    {evidence.SeriesDiskReadBytes, "bytes/s", kib, false},
	"wkB/s":    {evidence.SeriesDiskWrittenBytes, "bytes/s", kib, false},
	"rMB/s":    {evidence.SeriesDiskReadBytes, "bytes/s", kib * kib, false},
	"wMB/s":    {evidence.SeriesDiskWrittenBytes, "bytes/s", kib * kib, false},
	"rsec/s":   {evidence.SeriesDiskReadBytes, "bytes/s", 512, false},
	"wsec/s":   {evidence.SeriesDiskWrittenBytes, "bytes/s", 512, false},
	"rd_sec/s": {evidence.SeriesDiskReadBytes, "bytes/s", 512, false},
	"wr_sec/s": {evidence.SeriesDiskWrittenBytes, "bytes/s", 512, false},

	"kB_read/s":  {evidence.SeriesDiskReadBytes, "bytes/s", kib, false},
	"kB_wrtn/s":  {evidence.SeriesDiskWrittenBytes, "bytes/s", kib, false},
	"MB_read/s":  {evidence.SeriesDiskReadBytes, "bytes/s", kib * kib, false},
	"MB_wrtn/s":  {evidence.SeriesDiskWrittenBytes, "bytes/s", kib * kib, false},
	"Blk_read/s": {evidence.SeriesDiskReadBytes, "bytes/s", 512, false},
	"Blk_wrtn/s": {evidence.SeriesDiskWrittenBytes, "bytes/s", 512, false},
	"aqu-sz":     {evidence.SeriesDiskInFlight, "1", 1, false},
	"avgqu-sz":   {evidence.SeriesDiskInFlight, "1", 1, false},
	"%util":      {evidence.SeriesDiskBusy, "1", .01, false},
}

var networkColumns = map[string]column{
	"rxpck/s": {evidence.SeriesNetPacketsReceived, "1/s", 1, false},
	"txpck/s": {evidence.SeriesNetPacketsSent, "1/s", 1, false},
	"rxkB/s":  {evidence.SeriesNetReceived, "bytes/s", kib, false},
	"txkB/s":  {evidence.SeriesNetSent, "bytes/s", kib, false},
	"rxbyt/s": {evidence.SeriesNetReceived, "bytes/s", 1, false},
	"txbyt/s": {evidence.SeriesNetSent, "bytes/s", 1, false},
}

// processColumns are pidstat's of a process.
var processColumns = map[string]column{
	"%CPU":      {evidence.SeriesProcessCPU, "cores", .01, false},
	"%system":   {evidence.SeriesProcessCPUSystem, "cores", .01, false},
	"%wait":     {evidence.SeriesProcessMainThreadRunDelay, "1", .01, false},
	"minflt/s":  {evidence.SeriesProcessMinorFaults, "1/s", 1, false},
	"majflt/s":  {evidence.SeriesProcessMajorFaults, "1/s", 1, false},
	"RSS":       {evidence.SeriesProcessRSS, "bytes", kib, true},
	"kB_rd/s":   {evidence.SeriesProcessDiskRead, "bytes/s", kib, false},
	"kB_wr/s":   {evidence.SeriesProcessDiskWritten, "bytes/s", kib, false},
	"kB_ccwr/s": {evidence.SeriesProcessDiskCancelled, "bytes/s", kib, false},
	"cswch/s":   {evidence.SeriesProcessMainThreadVoluntarySwitches, "1/s", 1, false},
	"nvcswch/s": {evidence.SeriesProcessMainThreadNonvoluntarySwitches, "1/s", 1, false},
	"threads":   {evidence.SeriesProcessThreads, "1", 1, true},
}

// threadColumns are what rows of threads add to their process (pidstat -t).
var threadColumns = map[string]column{
	"%wait":     {evidence.SeriesProcessRunDelay, "1", .01, false},
	"cswch/s":   {evidence.SeriesProcessVoluntarySwitches, "1/s", 1, false},
	"nvcswch/s": {evidence.SeriesProcessInvoluntarySwitches, "1/s", 1, false},
}

var softnetColumns = map[string]column{
	"total/s":   {evidence.SeriesHostSoftnetPackets, "1/s", 1, false},
	"dropd/s":   {evidence.SeriesHostSoftnetDropped, "1/s", 1, false},
	"squeezd/s": {evidence.SeriesHostSoftnetSqueezed, "1/s", 1, false},
}

var softirqColumns = map[string]column{
	"NET_RX/s":  {evidence.SeriesHostSoftirqsNetRX, "1/s", 1, false},
	"NET_TX/s":  {evidence.SeriesHostSoftirqsNetTX, "1/s", 1, false},
	"BLOCK/s":   {evidence.SeriesHostSoftirqsBlock, "1/s", 1, false},
	"TIMER/s":   {evidence.SeriesHostSoftirqsTimer, "1/s", 1, false},
	"SCHED/s":   {evidence.SeriesHostSoftirqsSched, "1/s", 1, false},
	"RCU/s":     {evidence.SeriesHostSoftirqsRCU, "1/s", 1, false},
	"TASKLET/s": {evidence.SeriesHostSoftirqsTasklet, "1/s", 1, false},
}
