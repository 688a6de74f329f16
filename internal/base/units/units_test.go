package units

import (
	"math"
	"testing"
)

func TestNum(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", 1.5: "1.5", 6.4: "6.4", 6.404: "6.4", 6.456: "6.46", 9.996: "10", 99.94: "99.9", 99.96: "100", 999.6: "1,000",
		1234: "1,234", 1234567: "1,234,567", -1.49: "−1.49", -1234: "−1,234", 0.083: "0.083", 0.00012345: "0.000123",
		1e15: "1e15", 1.234e18: "1.23e18", 1e-9: "1e−09", math.Inf(1): "?", math.Inf(-1): "?",
	} {
		if got := Num(v); got != want {
			t.Errorf("Num(%v) = %q, want %q", v, got, want)
		}
	}
	if got := Num(math.NaN()); got != "?" {
		t.Errorf("Num(NaN) = %q", got)
	}
}

func TestFixed(t *testing.T) {
	for _, c := range []struct {
		v    float64
		d    int
		want string
	}{{1.32, 2, "1.32"}, {0, 2, "0.00"}, {0.004, 2, "<0.01"}, {0.006, 2, "0.01"}, {1234.5, 1, "1,234.5"}, {12, 0, "12"}, {0.4, 0, "<1"}, {math.NaN(), 1, "?"}} {
		if got := Fixed(c.v, c.d); got != c.want {
			t.Errorf("Fixed(%v, %d) = %q, want %q", c.v, c.d, got, c.want)
		}
	}
}

func TestUnits(t *testing.T) {
	for ns, want := range map[float64]string{0: "0 s", 0.4: "0.4 ns", 999: "999 ns", 999.6: "1 µs", 1500: "1.5 µs", 2.6e6: "2.6 ms", 999.96e6: "1 s", 1.92e9: "1.92 s", 599e9: "599 s", 5.4e12: "90 min", 40389e9: "11.2 h", 864e12: "10 days"} {
		if got := Time(ns); got != want {
			t.Errorf("Time(%v) = %q, want %q", ns, got, want)
		}
	}
	for bytes, want := range map[float64]string{0: "0 B", 1023: "1,023 B", 1 << 20: "1 MiB", 4 << 30: "4 GiB", 107.3 * (1 << 20): "107 MiB", 1 << 52: "4,096 TiB"} {
		if got := Size(bytes); got != want {
			t.Errorf("Size(%v) = %q, want %q", bytes, got, want)
		}
	}
}

func TestOf(t *testing.T) {
	for _, c := range []struct {
		v          float64
		unit, want string
	}{{9.3, "1/s", "9.3 /s"}, {.31, "1", "31 %"}, {1.7, "1", "1.7"}, {1, "1", "1"}, {4711, "1", "4,711"}, {0, "1", "0"}, {390e6, "bytes/s", "372 MiB/s"}, {1320, "ms", "1.32 s"}, {98, "%", "98 %"}, {3, "", "3"},
		{1, "CPUs", "1 CPU"}, {1, "cores", "1 CPU"}, {1, "s", "1 s"}, {1, "bytes", "1 B"}, {1, "1/s", "1 /s"}, {38527492188, "bytes/h", "35.9 GiB/h"}} {
		if got := Of(c.v, c.unit); got != c.want {
			t.Errorf("Of(%v, %q) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

func TestChange(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		now, then, low, high *float64
		unit, want           string
	}{
		{p(6.4), p(2.7), p(2.3), p(3.4), "ms", "6.4 → 2.7 ms (2.3–3.4)"},
		{p(9.3), p(0.6), nil, nil, "/s", "9.3 → 0.6 /s"},
		{p(107 << 20), p(760 << 20), nil, nil, "bytes", "107 → 760 MiB"},
		{p(107 << 20), p(4 << 30), nil, nil, "bytes", "0.104 → 4 GiB"},
		{p(1200), p(300), p(250), nil, "ms", "1.2 → 0.3 s"},
		{nil, p(3), nil, nil, "%", "3 %"},
		{p(3), nil, nil, nil, "count", "3 → ?"},
		{p(.2), p(.00000924), p(.000005), p(.00002), "cores", "0.2 → <0.001 CPUs"},
		{p(.2), p(.0004), p(.0001), p(.002), "cores", "0.2 → <0.001 CPUs (<0.001–0.002)"},
		{p(38.7), p(100), p(72), p(100), "%", "39 → 100 % (72–100)"},
	} {
		if got := Change(c.now, c.then, c.low, c.high, c.unit); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
