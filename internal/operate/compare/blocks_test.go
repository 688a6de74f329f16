package compare

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBlocks(t *testing.T) {
	variants := []string{"a", "b", "c"}
	order := func(seed uint64) string {
		var s strings.Builder
		runs, err := Blocks(context.Background(), 20, variants, seed, func(_ context.Context, v string, block int) (Run, error) {
			s.WriteString(v)
			return Run{Name: v, Metrics: map[string]float64{"p99_ms": float64(block)}}, nil
		})
		if err != nil || len(runs) != 3 {
			t.Fatal(err)
		}
		for v, of := range runs {
			for block, r := range of {
				if len(of) != 20 || r.Name != variants[v] || r.Metrics["p99_ms"] != float64(block) {
					t.Fatalf("run %d of %s is %+v", block, variants[v], r)
				}
			}
		}
		return s.String()
	}
	first := order(1)
	for i := 0; i < len(first); i += 3 {
		for _, v := range variants {
			if !strings.Contains(first[i:i+3], v) {
				t.Errorf("block %d is %s: each variant runs once", i/3, first[i:i+3])
			}
		}
	}
	if first != order(1) || first == order(2) {
		t.Error("the order is not the seed's")
	}
	if strings.Count(first, "a") != 20 || strings.HasPrefix(first, strings.Repeat(first[:3], 5)) {
		t.Errorf("not in random order: %s", first)
	}
}

func TestBlocksThatEnd(t *testing.T) {
	failure := errors.New("refused")
	ctx, cancel := context.WithCancel(context.Background())
	for name, stop := range map[string]func(n int) error{
		"a run fails":      func(int) error { return failure },
		"the context ends": func(int) error { cancel(); return nil },
	} {
		n := 0
		runs, err := Blocks(ctx, 6, []string{"a", "b"}, 1, func(context.Context, string, int) (Run, error) {
			if n++; n == 6 {
				return Run{}, stop(n)
			}
			return Run{}, nil
		})
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if d := cmp.Diff([]int{2, 2}, []int{len(runs[0]), len(runs[1])}); d != "" {
			t.Errorf("%s: whole blocks are kept: %s", name, d)
		}
		if name == "a run fails" && !errors.Is(err, failure) {
			t.Error(err)
		}
		ctx, cancel = context.WithCancel(context.Background())
	}
	cancel()
}

func TestInterleaved(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	warm, made := 0, 0
	run := func(_ context.Context, v string, block int) (Run, error) {
		if block < 0 {
			warm++
			return Run{}, nil
		}
		if made++; made == 15 {
			cancel()
		}
		p99 := map[string]float64{"old": 10, "new": 6}[v]
		return Run{Name: v, Load: open(500), Metrics: map[string]float64{"p99_ms": p99 + float64(block)/10}}, nil
	}
	c, err := Interleaved(ctx, "old", "new", 20, 3, Options{}, run)
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := c.Of("p99_ms"); m.Result != Improved || warm != 2 || c.Pairs != 7 || *c.Seed != 3 || c.Before != "old" || c.After != "new" || len(c.Warnings) != 1 {
		t.Errorf("%+v, %d warmed up, %d pairs, warnings %q", m, warm, c.Pairs, c.Warnings)
	}
	if _, err := Interleaved(ctx, "old", "new", 6, 3, Options{}, run); !errors.Is(err, context.Canceled) {
		t.Errorf("without a whole block: %v", err)
	}
	failure := errors.New("refused")
	if _, err := Interleaved(context.Background(), "old", "new", 6, 3, Options{}, func(context.Context, string, int) (Run, error) { return Run{}, failure }); !errors.Is(err, failure) {
		t.Error(err)
	}
}
