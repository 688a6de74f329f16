package procfs

import (
	"bytes"
	"slices"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// Columns of /proc/diskstats behind the name
// (https://docs.kernel.org/admin-guide/iostats.html); times are ms. Discards came with 4.18,
// flushes with 5.5.
const (
	reads = iota
	_
	readSectors
	readTime
	writes
	_
	writtenSectors
	writeTime
	_
	busyTime
	queueTime
	_
	_
	_
	_
	flushes
	flushTime
	diskColumns
)

// sector is the size of a sector in the kernel's files, for all disks: bytes.
const sector = 512

var diskSeries = []struct {
	name, unit string
	column     int
	factor     float64
}{
	{evidence.SeriesDiskReads, "1/s", reads, 1},
	{evidence.SeriesDiskReadBytes, "bytes/s", readSectors, sector},
	{evidence.SeriesDiskReading, "1", readTime, 1e-3},
	{evidence.SeriesDiskWrites, "1/s", writes, 1},
	{evidence.SeriesDiskWrittenBytes, "bytes/s", writtenSectors, sector},
	{evidence.SeriesDiskWriting, "1", writeTime, 1e-3},
	{evidence.SeriesDiskBusy, "1", busyTime, 1e-3},
	{evidence.SeriesDiskInFlight, "1", queueTime, 1e-3},
	{evidence.SeriesDiskFlushes, "1/s", flushes, 1},
	{evidence.SeriesDiskFlushing, "1", flushTime, 1e-3},
}

// parseDiskstats reads " 254       0 vda 1725329 198804 49529978 2403536 …".
func (p *parser) parseDiskstats(line []byte) bool {
	f := bytes.Fields(line)
	if len(f) < 3 {
		return false
	}
	for _, digits := range f[:2] {
		if _, ok := format.ParseDigits(digits); !ok {
			return false
		}
	}
	var v [diskColumns]int64
	n := 0
	for ; n < len(v) && n < len(f)-3; n++ {
		var ok bool
		if v[n], ok = format.ParseDigits(f[3+n]); !ok {
			return false
		}
	}
	if n <= queueTime {
		p.ignored++ // a partition before 2.6.25
		return n == 4
	}
	name := cleanText(f[2], 32)
	if v[reads] == 0 && v[writes] == 0 || format.PartOfDisk(name, p.disks) {
		p.ignored++
		return true
	}
	if !slices.Contains(p.disks, name) {
		if len(p.disks) >= maxDisks {
			p.dropped++
			return true
		}
		p.disks = append(p.disks, name)
	}
	for _, s := range diskSeries {
		if s.column < n {
			p.addCounter(&p.host, s.name+":"+name, s.unit, float64(v[s.column])*s.factor)
		}
	}
	if !format.MadeOfDisks(name) {
		p.sumCounter(&p.host, evidence.SeriesHostDiskRequests, "1/s", float64(v[reads]+v[writes]))
		p.sumCounter(&p.host, evidence.SeriesHostDiskInFlight, "1", float64(v[queueTime])/1e3)
	}
	return true
}
