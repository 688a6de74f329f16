package metricspage

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
)

// syncs are etcd's histograms of the time until its log is on the disk, of 3.0 on and before
// (https://etcd.io/docs/v3.6/metrics/, Disk).
var syncs = []string{"etcd_disk_wal_fsync_duration_seconds", "etcd_wal_fsync_durations_seconds"}

// parseEtcd reads the syncs between the first page and the last, or since the start.
func parseEtcd(r *reading, _ *format.Artifact, b *evidence.Builder, _ context.Context) error {
	r.setTimes(b)
	subject := b.Subject(evidence.Subject{Kind: evidence.Process, Runtime: "go"})
	last := &r.pages[len(r.pages)-1]
	for _, name := range syncs {
		h := histogramOf(last, name)
		if first := histogramOf(&r.pages[0], name); len(r.pages) > 1 && len(first) == len(h) && len(h) > 0 && first[len(first)-1].n < h[len(h)-1].n {
			for i := range h {
				h[i].n -= first[i].n
			}
		}
		if len(h) < 2 || !(h[len(h)-1].n > 0) {
			continue
		}
		median := h.quantile(.5)
		if tail := h.quantile(.99); tail > 0 {
			b.FactAt(subject, evidence.FactSyncTail, fmt.Sprintf("%.4g ms", tail*1e3), tail*1e9, last.line)
			b.FactAt(subject, evidence.FactSyncs, "", h[len(h)-1].n, last.line)
		}
		if median > 0 {
			b.FactAt(subject, evidence.FactSyncMedian, fmt.Sprintf("%.4g ms", median*1e3), median*1e9, last.line)
		}
		t := evidence.Table{Title: "until the log of etcd is on the disk", Columns: []string{"", "value"}, Rows: [][]string{{"syncs", fmt.Sprintf("%.0f", h[len(h)-1].n)}}}
		for _, q := range []float64{.5, .9, .99} {
			if v := h.quantile(q); v > 0 {
				t.Rows = append(t.Rows, []string{fmt.Sprintf("p%.0f ms, by buckets", 100*q), fmt.Sprintf("%.4g", v*1e3)})
			}
		}
		b.Table(t)
	}
	r.emitTable(b, "metrics of etcd, last page", func(s string) bool { return isEtcd(s) && !strings.HasSuffix(s, "_bucket") })
	return nil
}

// bucket is how many syncs took up to a bound, s.
type bucket struct{ most, n float64 }

type histogram []bucket

// histogramOf collects the buckets of a histogram on a page.
func histogramOf(p *page, name string) (h histogram) {
	for i := range p.samples {
		s := &p.samples[i]
		if s.name != name+"_bucket" || !(s.v >= 0) || math.IsInf(s.v, 0) {
			continue
		}
		most, err := strconv.ParseFloat(s.label("le"), 64) // "+Inf", too
		if err == nil && most > 0 && len(h) < 200 {
			h = append(h, bucket{most, s.v})
		}
	}
	slices.SortFunc(h, func(x, y bucket) int { return cmp.Compare(x.most, y.most) })
	return h
}

// quantile returns the lower bound of the bucket that holds the q-quantile;
// 0 unknown.
func (h histogram) quantile(q float64) float64 {
	all, below := h[len(h)-1].n, 0.
	for _, x := range h {
		if x.n >= q*all {
			return below
		}
		below = x.most
	}
	return 0
}
