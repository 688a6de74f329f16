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
				if k != evidence.Call || b.Names.Wait(v.Cause.At(i)).Kind != evidence.NameServer {
					continue
				}
				lookups++
				if row := int(v.Request.At(i)) - 1; row >= 0 {
					linked++
					if from := r.End.At(row) - r.Latency(row); v.Start[i]-from >= x.handover*1000 && v.Start[i]-from <= x.handover*1000+20_000 {
						right++
					}
				}
			}
			switch said := len(b.Warnings) > 0 && strings.Contains(b.Warnings[0].Text, "of names were made is not known"); {
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

// asking is an event loop, thread 20, whose requests all want one name: the first of them asks, and the others wait for its answer and then call
// the address on a connection that is open. Every few requests the name server takes its time. If apart, the calls begin at another moment.
func asking(requests int, apart bool) (text string, waiting int) {
	var w strings.Builder
	random := rand.New(rand.NewPCG(3, 4))
	w.WriteString("# exchanges of pid 4711\nfrom 1763689985000000000\n")
	at, answered := int64(1763689985000000000), int64(0)
	for i := range requests {
		at += int64(random.ExpFloat64() * 25e6)
		if at > answered {
			took := int64(300_000)
			if i%6 == 0 {
				took = 400e6
			}
			answered = at + 100_000 + took
			fmt.Fprintf(&w, "k %d 0 %d 0 57 52 1 1 21 21 37536 10.0.0.2:53 dns ok A example.com\n", at+100_000, took)
		} else if answered-at >= awaitedLeast {
			waiting++
		}
		call := answered + 500_000 + int64(random.Float64()*3e6)
		if apart {
			call = at + int64(random.Float64()*400e6)
		}
		fmt.Fprintf(&w, "k %d 0 10000000 0 500 200 1 1 20 20 %d 10.0.0.7:80 http 200 GET /stock\n", call, 30000+i%40)
		fmt.Fprintf(&w, "q %d 0 %d 0 180 220 1 1 20 20 8080/%d - http 200 GET /stock\n", at, call+10_200_000-at, 1+i%40)
	}
	fmt.Fprintf(&w, "until %d\n", at+2e9)
	return w.String(), waiting
}

// TestSharedLookups checks that requests which wait for a lookup that another request began are charged with it, and that others are not.
func TestSharedLookups(t *testing.T) {
	for _, apart := range []bool{false, true} {
		text, waiting := asking(400, apart)
		b := evidence.NewBundle()
		if err := format.Read(t.Context(), []format.Format{Format}, formattest.Artifact("exchanges.txt", []byte(text)), b); err != nil {
			t.Fatal(err)
		}
		r, waited := &b.Requests, 0
		for row := range r.Len() {
			for s := range r.Path(row).All {
				if s.Kind == evidence.NetWait && b.Names.Wait(s.Cause).Kind == evidence.NameServer && float64(s.Dur) >= awaitedPart*float64(awaitedLeast) {
					waited++
					break
				}
			}
		}
		switch {
		case !apart && float64(waited) < .9*float64(waiting):
			t.Errorf("%d requests wait for a lookup, of %d that do", waited, waiting)
		case apart && waited > requestsBySlowLookups(text):
			t.Errorf("%d requests wait for a lookup, though their calls begin at other moments", waited)
		}
	}
}

// requestsBySlowLookups returns how many lookups took long: only the requests that began them may be charged.
func requestsBySlowLookups(text string) int { return strings.Count(text, " 0 400000000 0 57 ") }
