package service

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// Small answers in two writes of which the client has many just 40 ms after they were sent wait for acknowledgements. Answers in one write, large ones, those that
// are late by any time, and a few do not.
func TestDelayedAck(t *testing.T) {
	always := func(float64) int64 { return 40 * ms }
	for name, of := range map[string]struct {
		writes, size int
		late         float64               // part of the answers
		by           func(x float64) int64 // ns, with x between 0 and 1
		want         bool
		says         string
	}{
		"half of them":           {2, 220, .5, always, true, "of slow time"},
		"one in twenty":          {2, 220, .05, always, true, "of slow time"},
		"all of them":            {2, 220, 1, always, true, "of all requests' time"},
		"in three writes":        {3, 9000, .5, always, true, "in 3 small writes"},
		"in one write":           {1, 220, .5, always, false, ""},
		"large answers":          {4, 300_000, .5, always, false, ""},
		"late by any time":       {2, 220, .5, func(x float64) int64 { return int64(10e6 + 100e6*x) }, false, ""},
		"packets are lost":       {2, 220, .5, func(float64) int64 { return 204 * ms }, false, ""},
		"few":                    {2, 220, .004, always, false, ""},
		"none":                   {2, 220, 0, always, false, ""},
		"clients that read late": {2, 220, .5, func(x float64) int64 { return int64(11e6 + 20e6*x) }, false, ""},
	} {
		saw, clients := answered(of.writes, of.size, of.late, of.by)
		c := caseWithClients(t, saw, clients)
		if !DelayedAck.Applies(c) {
			if of.want || of.writes > 1 && of.size < mostSmall {
				t.Errorf("%s: it does not apply", name)
			}
			continue
		}
		v := judgeDelayedAck(c)
		if v.Supported() != of.want || !strings.Contains(v.Title, of.says) {
			t.Errorf("%s: %s: %q, %q", name, v.State, v.Title, v.Summary)
		}
		if of.want && (v.Saves != nil && v.Saves.Value < 30 || len(v.Prediction) == 0 || *v.Prediction[0].Then > 10) {
			t.Errorf("%s: saves %+v, predicts %+v", name, v.Saves, v.Prediction)
		}
	}
}

// mostSmall is a size (bytes) below which answers are small.
const mostSmall = 60_000

// answered are requests that take 1 to 2 ms and are answered in so many writes, of so many bytes in all, as the kernel and their clients saw them. A part of the answers
// is late, by what by says of a number between 0 and 1 (ns).
func answered(writes, size int, late float64, by func(x float64) int64) (kernel, rows []byte) {
	random := rand.New(rand.NewPCG(5, 6))
	var saw, clients bytes.Buffer
	fmt.Fprintf(&saw, "# exchanges of pid 4711\nfrom %d\n", began)
	clients.WriteString("# unstall.requests/v1 url=http://127.0.0.1:8080/ mode=open arrivals=poisson\n# intended_ns sent_ns end_ns lag_ns status bytes outcome route\n")
	at := int64(began)
	for i := range 1500 {
		at += int64(random.ExpFloat64() * 15e6)
		took, sent := 1*ms+random.Int64N(1*ms), at-150_000
		fmt.Fprintf(&saw, "q %d 0 %d 30000 90 %d 1 %d %d %d 8080/%d - http 200 GET /tally/{id}\n", at, took, size, writes, 20+i%8, 20+i%8, 1+i%40)
		end := at + took + 150_000
		if random.Float64() < late {
			end += by(random.Float64()) + random.Int64N(2*ms)
		}
		fmt.Fprintf(&clients, "%d %d %d 9000 200 220 ok GET /tally/{n%%4000}\n", sent-9000, sent, end)
	}
	fmt.Fprintf(&saw, "until %d\n", at+1e9)
	return saw.Bytes(), clients.Bytes()
}
