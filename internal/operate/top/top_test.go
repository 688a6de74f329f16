package top

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestPlain(t *testing.T) {
	w := watch(2, pool(climb, 14)...)
	ticks := make(chan time.Time, 12)
	for range cap(ticks) {
		ticks <- start
	}
	close(ticks)
	var out bytes.Buffer
	if err := Plain(context.Background(), &out, w, ticks); err != nil {
		t.Fatal(err)
	}
	tables := strings.SplitAfter(out.String(), "\n\n")
	if len(tables) != 13 {
		t.Fatalf("%d tables, want 12", len(tables)-1)
	}
	golden(t, "plain.txt", tables[0]+tables[11])
}

func TestDraw(t *testing.T) {
	w := after(45, 2, pool(climb, 14)...)
	w.Notes = []string{"pid 4711: only root may read its hsperfdata"}
	for _, x := range []struct {
		name string
		Look
	}{
		{"wide.txt", Look{Width: 120, Height: 24}},
		{"narrow.txt", Look{Width: 50, Height: 14, ASCII: true, Paused: true}},
		{"small.txt", Look{Width: 80, Height: 9, Scroll: 2}},
		{"colour.txt", Look{Width: 80, Height: 16, Color: true}},
	} {
		text := Draw(w, x.Look)
		golden(t, x.name, text+"\n")
		lines := strings.Split(text, "\n")
		if len(lines) > x.Height {
			t.Errorf("%s: %d lines in a window of %d", x.name, len(lines), x.Height)
		}
		for _, l := range lines {
			if n := len([]rune(l)); !x.Color && n > x.Width {
				t.Errorf("%s: %d wide: %s", x.name, n, l)
			}
		}
		if !x.Color && strings.Contains(text, "\x1b") {
			t.Errorf("%s: has colours", x.name)
		}
	}
}

// Draw fits a board into any window, also into one without any size.
func TestDrawAnywhere(t *testing.T) {
	w := after(5, 2, pool(climb, 14)...)
	for width := range 150 {
		for _, height := range []int{0, 1, 3, 10, 40} {
			for _, scroll := range []int{0, 7, 1000} {
				text := Draw(w, Look{Width: width, Height: height, Scroll: scroll})
				if n := strings.Count(text, "\n") + 1; n > max(height, 1) {
					t.Fatalf("%d × %d: %d lines", width, height, n)
				}
			}
		}
	}
}

func TestEnds(t *testing.T) {
	alive := func(int) ([]Reading, error) { return []Reading{gauge("a", "g", "a", "count", 1)}, nil }
	failing := func(int) ([]Reading, error) { return nil, errors.New("http://127.0.0.1:1: nothing listens there") }
	dies := func(s int) ([]Reading, error) {
		if s >= 3 {
			return nil, ErrEnded
		}
		return alive(s)
	}
	run := func(at ...func(int) ([]Reading, error)) (w *Watch, err error) {
		w = watch(2, at...)
		for range 6 {
			if err = w.applyBatch(w.collectReadings(context.Background())); err != nil {
				break
			}
		}
		return w, err
	}
	if _, err := run(alive, dies); !errors.Is(err, ErrEnded) || err.Error() != "the process has ended, after 0s" {
		t.Errorf("the process ends: %v", err)
	}
	if w, err := run(dies, alive); err != nil || strings.Join(w.Missing(), "") != "the runtime has closed the session that sends its counters" {
		t.Errorf("only the session ends: %v, %q", err, w.Missing())
	}
	if w, err := run(failing, alive); err != nil || len(w.Missing()) != 1 {
		t.Errorf("one source fails: %v, %q", err, w.Missing())
	}
	late := func(int) ([]Reading, error) { return nil, nil }
	if w, err := run(late, alive); err != nil || strings.Join(w.Missing(), "") != "the runtime's counters: the first values come after a moment" {
		t.Errorf("nothing came yet: %v, %q", err, w.Missing())
	}
	if _, err := run(failing); err == nil || errors.Is(err, ErrEnded) {
		t.Errorf("the only source fails: %v", err)
	}
}

func TestClose(t *testing.T) {
	a, b := &fake{}, &fake{}
	if err := New(Subject{}, time.Second, time.Now, a, b).Close(); err != nil || !a.closed || !b.closed {
		t.Errorf("%v, %v, %v", err, a.closed, b.closed)
	}
}
