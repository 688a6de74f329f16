package exchanges

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format"
	"github.com/unstall/unstall/internal/format/formattest"
)

// resolving is an event loop, thread 20, that looks up a name for each request on a thread of a pool of four, and then calls the address. Times between
// these are in µs: connect is from the lookup's end until the call begins.
func resolving(requests int, each, handover, connect int64) string {
	var w strings.Builder
	random := rand.New(rand.NewPCG(1, 2))
	w.WriteString("# exchanges of pid 4711\nfrom 1763689985000000000\n")
	at := int64(1763689985000000000)
	for i := range requests {
		at += int64(random.ExpFloat64() * float64(each) * 1e3)
		took := int64(4e6)
		if i%8 == 0 {
			took = 350e6
		}
		begun := at + handover*1000
		fmt.Fprintf(&w, "k %d 0 %d 0 61 45 1 1 %d %[3]d %d 10.0.0.2:53 dns ok A example.com\n", begun, took, 31+i%4, 20000+i%2000)
		fmt.Fprintf(&w, "k %d 0 %d 0 61 45 1 1 %d %[3]d %d 10.0.0.2:53 dns ok AAAA example.com\n", begun+20_000, 4_000_000, 31+i%4, 20000+i%2000)
		call := begun + took + connect*1000
		fmt.Fprintf(&w, "k %d 0 12000000 0 500 200 1 1 20 20 %d 10.0.0.7:80 http 200 GET /arrival\n", call, 30000+i)
		fmt.Fprintf(&w, "q %d 0 %d 0 180 220 1 1 20 20 8080/%d - http 200 GET /arrivals\n", at, call+12_300_000-at, 1+i%8)
	}
	fmt.Fprintf(&w, "until %d\n", at+2e9)
	return w.String()
}

// TestLinkLookups checks that lookups by pool threads are linked to requests of an event loop by times without activity, and that many unlinked ones are reported.
func TestLinkLookups(t *testing.T) {
	for _, x := range []struct {
		name                    string
		each, handover, connect int64
		linked                  bool
	}{
		{"near", 20_000, 1_000, 1_200, true},
		{"far", 200_000, 200, 40_000, true},
		{"too many for that", 20_000, 3_000, 40_000, false},
		{"far too many", 300, 200, 40_000, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			b := evidence.NewBundle()
			if err := format.Read(t.Context(), []format.Format{Format}, formattest.Artifact("exchanges.txt", []byte(resolving(400, x.each, x.handover, x.connect))), b); err != nil {
				t.Fatal(err)
			}
			v, r := &b.Intervals, &b.Requests
			lookups, linked, right := 0, 0, 0
			for i, k := range v.Kind {
				if k != evidence.Call || b.Names.Wait(v.Cause[i]).Kind != evidence.NameServer {
					continue
				}
				lookups++
				if row := int(v.Request[i]) - 1; row >= 0 {
					linked++
					if from := r.End.At(row) - r.Latency(row); v.Start[i]-from >= x.handover*1000 && v.Start[i]-from <= x.handover*1000+20_000 {
						right++
					}
				}
			}
			switch said := len(b.Warnings) > 0 && strings.Contains(b.Warnings[0].Text, "of names that belong to no request"); {
			case lookups != 800:
				t.Errorf("%d lookups", lookups)
			case x.linked && (float64(right) < .9*float64(lookups) || said):
				t.Errorf("%d of %d lookups are linked, %d to their request; %v", linked, lookups, right, b.Warnings)
			case !x.linked && (float64(linked) > .1*float64(lookups) || !said): // some are by chance
				t.Errorf("%d of %d lookups are linked; %v", linked, lookups, b.Warnings)
			}
		})
	}
}
