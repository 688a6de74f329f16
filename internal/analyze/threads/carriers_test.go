package threads

import (
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// Two virtual threads keep both carriers, which they are pinned to, while others have not run
// yet: those wait for a carrier, and who keeps it holds what they wait for.
func TestCarriers(t *testing.T) {
	handler := []string{"mill.Desk.photo", "mill.Main.badge", "com.sun.net.httpserver.Filter$Chain.doFilter", "java.lang.VirtualThread.run", "[virtual]"}
	pinned := append([]string{"jdk.internal.misc.Unsafe.park", "java.lang.VirtualThread.parkOnCarrierThread", "java.lang.VirtualThread.park",
		"sun.nio.ch.NioSocketImpl.park", "java.net.Socket$SocketInputStream.read"}, handler...)
	parked := append([]string{"java.lang.VirtualThread.park", "sun.nio.ch.NioSocketImpl.park", "java.net.Socket$SocketInputStream.read"}, handler...)
	fresh := []string{"- not mounted yet", "[virtual]"}
	for _, test := range []struct {
		keep []string
		want string
	}{{pinned, "the 2 carriers of virtual threads"}, {parked, ""}} {
		r := jvm()
		for at := int64(1e9); at <= 5e9; at += 1e9 {
			for lane, frames := range [][]string{test.keep, test.keep, parked, fresh, fresh} {
				r.look(evidence.LanesOfProgram+evidence.LaneID(lane+1), at, frames)
			}
		}
		x := r.threads()
		limits := x.Limits(r.subject)
		if test.want == "" {
			if len(limits) > 0 {
				t.Errorf("nobody keeps a carrier: %+v", limits)
			}
			continue
		}
		if len(limits) != 1 || limits[0].Words() != test.want || limits[0].Pinned != 1 || limits[0].Waiting != 2 || limits[0].Pins != "Desk.photo"+evidence.Link+"Main.badge" {
			t.Fatalf("%+v", limits)
		}
		for _, l := range x.Samples(r.subject) {
			if l.View.State == evidence.ThreadWait && (!l.View.Request || l.Held.Lane == 0 || l.Held.State != evidence.NetWait || l.View.Reason() != test.want) {
				t.Errorf("%+v", l)
			}
		}
	}
}

// Of two carriers one is kept by a thread that is pinned, and the other by one that waits to enter the same monitor. A thread that is parked
// until an answer comes waits for a carrier, too, if the kernel saw that the answer is there.
func TestCarriersOfThoseWhoEnter(t *testing.T) {
	server := []string{"com.sun.net.httpserver.Filter$Chain.doFilter", "java.lang.VirtualThread.run", "[virtual]"}
	handler := append([]string{"shop.Quotes.get"}, server...)
	pinned := append([]string{"jdk.internal.misc.Unsafe.park", "java.lang.VirtualThread.parkOnCarrierThread", "java.lang.VirtualThread.park",
		"sun.nio.ch.NioSocketImpl.park", "java.net.Socket$SocketInputStream.read", "shop.Supplier.ask"}, handler...)
	parked := append([]string{"java.lang.VirtualThread.park", "sun.nio.ch.NioSocketImpl.park", "java.net.Socket$SocketInputStream.read", "shop.Orders.get"}, server...)
	fresh := []string{"- not mounted yet", "[virtual]"}
	for name, test := range map[string]struct {
		unread  int64 // ns of each answer
		waiting float64
	}{"answers are there": {600e6, 4}, "answers come late": {0, 1}} {
		r := jvm()
		for at := int64(1e9); at <= 5e9; at += 1e9 {
			for lane, frames := range [][]string{pinned, handler, parked, parked, parked, fresh} {
				r.look(evidence.LanesOfProgram+evidence.LaneID(lane+1), at, frames)
			}
			for range 3 {
				extra := []evidence.Extra{{Key: evidence.UnreadTime, Value: float64(test.unread)}}
				r.p.Interval(evidence.Interval{Subject: r.subject, Kind: evidence.Call, Start: at - 500e6, End: at + 300e6, Origin: r.p.Origin(1), Extra: extra})
			}
		}
		r.p.Cover(evidence.Coverage{Subject: r.subject, Kind: evidence.CoverExchanges, From: 1, Until: 9e9, Origin: r.p.Origin(1)})
		x := r.threads()
		limits := x.Limits(r.subject)
		if len(limits) != 1 || limits[0].Pinned != 1 || limits[0].Most != 2 || limits[0].Waiting != test.waiting {
			t.Errorf("%s: %+v", name, limits)
		}
	}
}
