// Gateway is the API front end of the go-ballast incident: it authorises a
// request against a session table, routes it, fetches JSON from three upstream
// services and joins it into one answer. The table is a heap of small nodes full
// of pointers, and every request leaves about 0.45 MB of garbage; with Go's
// default pacing that means a small heap which is marked many times per second.
//
//	gateway                                         sick: GOGC=100
//	GOGC=off GOMEMLIMIT=800MiB gateway              fixed, Go 1.19 and later
//	gateway -ballast 4096                           fixed as in the report, any Go
//
// With -control, "live 150" on standard input makes the live heap that many MiB, "limit
// 8192" is another GOMEMLIMIT, "ballast 1500" another ballast.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/unstall/unstall/lab/service"
)

func main() {
	s := service.New()
	live := flag.Int("live", 40, "MiB of sessions: the live heap")
	signature := flag.Int("signature", 0, "rounds of the check of a token's signature: CPU time, about 2 ns each, and no garbage")
	garbage := flag.Int("garbage", 450, "KiB of garbage for each request, about")
	ballast := flag.Int("ballast", 0, "MiB allocated at the start, without pointers, and never touched")
	pretouch := flag.Int("pretouch", 0, "MiB of heap to touch and free at the start, so that requests meet no first-touch page faults")
	giveBackEvery := flag.Duration("free-every", 0, "how often a housekeeper calls debug.FreeOSMemory, which collects each time; 0: never")
	upstream := flag.String("upstream", "", "host:port of an HTTP service to fetch from; empty: documents in memory")
	store := flag.String("session-store", "", "host:port of a RESP server asked on the serving goroutine for each request; empty: none")
	connections := flag.Int("store-connections", 0, "connections to the session store at most; 0: as many as requests")
	flag.Parse()

	memory := newMemory(*ballast, *pretouch)
	sessions := newSessions(*live << 20)
	g := &gateway{
		sessions:  sessions,
		upstream:  newUpstream(*upstream),
		store:     newStore(*store, *connections),
		signature: *signature,
		fields:    *garbage << 10 / fieldBytes,
	}
	s.Command("live", func(mib string) error {
		n, err := strconv.Atoi(mib)
		if err != nil {
			return err
		}
		g.guests.Store(sessions.makeMore((n - *live) << 20))
		runtime.GC()
		return nil
	})
	s.Command("limit", withMiB(memory.changeLimit))
	s.Command("ballast", withMiB(memory.changeBallast))
	for _, route := range []string{"/v1/feed", "/v1/channel/", "/v1/search"} {
		s.Handle(route, g.serve)
	}
	if *giveBackEvery > 0 {
		go freeMemory(*giveBackEvery)
	}
	fmt.Fprintf(os.Stderr, "%d sessions\n", len(sessions.byToken))
	s.Run()
	runtime.KeepAlive(memory)
}

// withMiB returns a command that takes a number of MiB.
func withMiB(set func(mib int)) func(string) error {
	return func(mib string) error {
		n, err := strconv.Atoi(mib)
		switch {
		case err != nil:
			return err
		case n <= 0:
			return fmt.Errorf("%d MiB: give more than 0", n)
		}
		set(n)
		return nil
	}
}

type gateway struct {
	sessions  *sessions
	guests    atomic.Pointer[sessions] // of temporary visitors: they only make the heap larger
	upstream  *upstream
	store     *store
	signature int
	fields    int
}

func (g *gateway) serve(w http.ResponseWriter, r *http.Request) {
	session := g.sessions.authorise(r, g.signature)
	if session == nil {
		http.Error(w, `{"error":"no such session"}`, http.StatusUnauthorized)
		return
	}
	if err := g.store.checkSession(session); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	documents, err := g.upstream.fetch(r.URL.Path, session)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	answer := resolve(session, documents, g.fields)
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil && !strings.Contains(err.Error(), "broken pipe") {
		fmt.Fprintln(os.Stderr, err)
	}
}
