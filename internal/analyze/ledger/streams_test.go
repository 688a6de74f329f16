package ledger

import (
	"strings"
	"testing"

	"github.com/unstall/unstall/internal/base/evidence"
)

// A request that was seen to be a stream takes all long ones of its route out of the figures,
// and no others.
func TestStreamsAreNotSlow(t *testing.T) {
	b := newBundle(evidence.Subject{})
	s := newSource(b, "events.nettrace", coarse(ms), 0)
	s.traffic("GET /quote/{id}", append(repeat(30, 2*ms), 400*ms)...)
	s.traffic("GET /chat", 300*ms, 9000*ms, 20000*ms)
	s.traffic("GET /export", 5000*ms)
	for _, f := range []evidence.Fact{
		{Key: evidence.FactLongRequest, Value: "aa GET /chat", Number: 1e9}, {Key: evidence.FactLongRequest, Value: "bb GET /export", Number: 1e9},
		{Key: evidence.FactStream, Value: "aa", Number: 1e9}, {Key: evidence.FactStream, Value: "cc", Number: 1e9},
	} {
		f.Subject = s.subject
		s.Fact(f)
	}
	l := one(t, b, Options{})
	if got := len(l.Rows); got != 31+1+1 {
		t.Errorf("%d requests are left, want 33", got)
	}
	var slow []string
	for _, i := range l.Slow {
		slow = append(slow, b.Names.Text(b.Requests.Route.At(i)))
	}
	if got := strings.Join(slow, ", "); got != "GET /chat, GET /quote/{id}, GET /export" {
		t.Errorf("slow: %s", got)
	}
	told := false
	for _, w := range b.Warnings {
		told = told || strings.Contains(w.Text, "2 streaming requests")
	}
	if !told {
		t.Errorf("it is not said: %v", b.Warnings)
	}
}

// Of paths with names in them each has few requests, and not each was seen to be a stream.
func TestStreamsOfKin(t *testing.T) {
	b := newBundle(evidence.Subject{})
	s := newSource(b, "events.nettrace", coarse(ms), 0)
	s.traffic("POST /join", repeat(40, ms)...)
	for _, room := range strings.Fields("chess go checkers") {
		s.traffic("GET /wait/"+room, 3000*ms, 4000*ms, 3500*ms)
		s.traffic("GET /rules/"+room, 2*ms, 2*ms, 300*ms)
	}
	s.Fact(evidence.Fact{Subject: s.subject, Key: evidence.FactLongRequest, Value: "aa GET /wait/chess", Number: 1e9})
	s.Fact(evidence.Fact{Subject: s.subject, Key: evidence.FactStream, Value: "aa", Number: 1e9})
	if got := len(one(t, b, Options{}).Rows); got != 40+9 {
		t.Errorf("%d requests are left, want 49", got)
	}
}

// A long poll that its library tells to wait for messages is no slow request, even where most of its route's are short; what the program only sends messages in
// is one.
func TestWaitsForMessages(t *testing.T) {
	b := newBundle(evidence.Subject{})
	s := newSource(b, "events.nettrace", coarse(ms), 0)
	s.traffic("GET /quote/{id}", repeat(30, 2*ms)...)
	s.traffic("GET /hub", append(repeat(25, 300*ms), 2000*ms, 5*ms)...)
	s.traffic("POST /bid", append(repeat(25, 3*ms), 2000*ms)...)
	for _, f := range []evidence.Fact{
		{Key: evidence.FactLongRequest, Value: "aa GET /hub", Number: 1e9}, {Key: evidence.FactLongRequest, Value: "bb POST /bid", Number: 1e9},
		{Key: evidence.FactStream, Value: "aa"}, {Key: evidence.FactStream, Value: "bb", Number: 1e9},
	} {
		f.Subject = s.subject
		s.Fact(f)
	}
	l := one(t, b, Options{})
	if got := len(l.Rows); got != 30+26 {
		t.Errorf("%d requests are left, want 56", got)
	}
	if got := len(l.Slow); got != 1 {
		t.Errorf("%d are slow, want 1", got)
	}
}
