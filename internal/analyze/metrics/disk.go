package metrics

import (
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Disk is what /proc/diskstats says of one disk of the host over a window
// (https://docs.kernel.org/admin-guide/iostats.html).
type Disk struct {
	Name                    string
	Reads, Writes           Value // requests/s
	ReadBytes, WrittenBytes Value // bytes/s
	ReadTook, WriteTook     Value // s per request, its time in the queue included; unknown without requests
	Flushes                 Value // 1/s
	FlushTook               Value // s
	Busy                    Value // share of the time in which the disk had any request
	InFlight                Value // mean number of requests under way
}

// EachDisk returns the disks of the only host, in the recording's order.
func EachDisk(b *evidence.Bundle, w Window) (all []Disk) {
	seen := make(map[string]bool)
	for i := range b.Series {
		name, ok := strings.CutPrefix(b.Series[i].Name, evidence.SeriesDiskBusy+":")
		if !ok || seen[name] {
			continue
		}
		seen[name] = true
		mean := func(series string) Value { return ofHost(b, series+":"+name, w) }
		d := Disk{Name: name, Reads: mean(evidence.SeriesDiskReads), Writes: mean(evidence.SeriesDiskWrites),
			ReadBytes: mean(evidence.SeriesDiskReadBytes), WrittenBytes: mean(evidence.SeriesDiskWrittenBytes),
			Flushes: mean(evidence.SeriesDiskFlushes), Busy: mean(evidence.SeriesDiskBusy), InFlight: mean(evidence.SeriesDiskInFlight)}
		d.ReadTook = timeEach(mean(evidence.SeriesDiskReading), d.Reads)
		d.WriteTook = timeEach(mean(evidence.SeriesDiskWriting), d.Writes)
		d.FlushTook = timeEach(mean(evidence.SeriesDiskFlushing), d.Flushes)
		all = append(all, d)
	}
	return all
}

// timeEach returns how long one request took, from the requests under way and the requests per second (Little's law).
func timeEach(underWay, rate Value) Value {
	if !underWay.Known() || !rate.Known() || rate.Number <= 0 {
		return Unknown
	}
	underWay.Number /= rate.Number
	return underWay
}
