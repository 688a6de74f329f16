package compare

import (
	"context"
	"fmt"
	"math/rand/v2"
)

// Blocks runs variants that are all up at the same time in n blocks. Each block runs every variant once, in a
// random order given by the seed. Changes over time, such as other load on the host, then affect all variants
// alike, and the two runs of a block are a pair.
//
// It returns the runs of whole blocks by variant, also when a run fails or the context ends: runs[v][b] is
// variant v in block b.
func Blocks(ctx context.Context, n int, variants []string, seed uint64, run func(ctx context.Context, variant string, block int) (Run, error)) (runs [][]Run, err error) {
	runs = make([][]Run, len(variants))
	order := rand.New(rand.NewPCG(seed, 0))
	for block := range n {
		made := make([]Run, len(variants))
		for _, v := range order.Perm(len(variants)) {
			if err := ctx.Err(); err != nil {
				return runs, err
			}
			r, err := run(ctx, variants[v], block)
			if err != nil {
				return runs, fmt.Errorf("%s, block %d: %w", variants[v], block+1, err)
			}
			if err := ctx.Err(); err != nil {
				return runs, err // it may have been cut short
			}
			made[v] = r
		}
		for v, r := range made {
			runs[v] = append(runs[v], r)
		}
	}
	return runs, nil
}

// Interleaved runs two services, both of them up all the time, in blocks and compares them. Each runs once
// beforehand to warm up (block −1), which does not count. If the context ends early, it compares the whole
// blocks so far.
func Interleaved(ctx context.Context, before, after string, blocks int, seed uint64, opt Options, run func(ctx context.Context, variant string, block int) (Run, error)) (*Comparison, error) {
	variants := []string{before, after}
	for _, v := range variants {
		if _, err := run(ctx, v, -1); err != nil {
			return nil, fmt.Errorf("%s, warming up: %w", v, err)
		}
	}
	runs, err := Blocks(ctx, blocks, variants, seed, run)
	made := len(runs[0])
	if err != nil && (ctx.Err() == nil || made == 0) {
		return nil, err
	}
	if opt.Before == "" {
		opt.Before = before
	}
	if opt.After == "" {
		opt.After = after
	}
	c, err := Compare(runs[0], runs[1], opt)
	if err != nil {
		return nil, err
	}
	c.Seed = &seed
	if made < blocks {
		c.Warnings = append(c.Warnings, fmt.Sprintf("interrupted after %d of %d blocks", made, blocks))
	}
	return c, nil
}
