package lab

import (
	"context"
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/operate/compare"
)

// measureBlocks measures the compared variants: each block measures every variant once,
// under the same load, in random order.
func (s *Stand) measureBlocks() error {
	var names []string
	for _, v := range s.variants {
		if v.Compared && !(v.Aside && s.opt.Quick) {
			names = append(names, v.Name)
		}
	}
	n, again := 0, s.Sizes.Blocks*len(names)/2 // runs that other programs on this host disturb are repeated, within limits
	runs, err := compare.Blocks(s.ctx, s.Sizes.Blocks, names, s.out.Plan.Seed, func(ctx context.Context, name string, block int) (compare.Run, error) {
		n++
		r, load, err := s.measureOnce(name, block)
		for ; err == nil && r.Others > others && again > 0; again-- {
			s.out.Repeated++
			r, load, err = s.measureOnce(name, block)
		}
		if err != nil {
			return compare.Run{}, err
		}
		s.out.Runs = append(s.out.Runs, r)
		s.reportProgress("block %d of %d, run %d of %d: %-13s %s", block+1, s.Sizes.Blocks, n, len(names)*s.Sizes.Blocks, name, r.formatLine())
		return compare.Run{Name: name, Start: r.Start, Load: load, Metrics: r.Metrics}, nil
	})
	if s.out.Repeated > 0 {
		s.addWarning("runs repeated because other programs used more than %.0[2]f %% of the host's CPUs during the run: %[1]d", s.out.Repeated, 100*others)
	}
	if err != nil {
		return err
	}
	for i, name := range names {
		if name == s.Sick {
			continue
		}
		c, err := compare.Compare(runs[indexOrFirst(names, s.Sick)], runs[i], compare.Options{Before: s.Sick, After: name})
		if err != nil {
			return err
		}
		c.Seed = &s.out.Plan.Seed
		s.out.Comparisons = append(s.out.Comparisons, c)
	}
	return nil
}

func indexOrFirst(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return 0
}

// measureOnce measures a variant once.
func (s *Stand) measureOnce(name string, block int) (r Measured, load compare.Load, err error) {
	v, _ := s.Variant(name)
	err = s.With(v, func(one *Service) error {
		s.awaitQuiet()
		r, load, err = s.load.measureRun(one, block)
		return err
	})
	return r, load, err
}

// formatLine sums up a run in a line.
func (r *Measured) formatLine() string {
	words := []string{fmt.Sprintf("p99 %7.2f ms", r.Metrics["p99_ms"])}
	for _, c := range columns {
		if v, ok := r.Metrics[c.metric]; ok && c.metric != "p99_ms" && c.progress {
			words = append(words, fmt.Sprintf(c.format, v)+" "+c.head)
		}
	}
	if r.Offered != nil {
		words = append(words, fmt.Sprintf("%.1f %% of the load delivered", 100*r.Achieved / *r.Offered))
	}
	return strings.Join(words, ", ")
}
