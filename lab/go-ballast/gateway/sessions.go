package main

import (
	"fmt"
	"math/rand"
	"net/http"
	"runtime"
	"strings"

	"github.com/unstall/unstall/lab/resp"
)

// sessions is the live heap: small nodes that point at each other in random memory
// order, which makes marking expensive.
type sessions struct {
	byToken map[string]*session
	all     []*session
	each    int // bytes of one, about
}

type session struct {
	token   string
	user    *user
	grants  *grant
	friends [3]*session
}

type user struct {
	name, region *string
	locale       *string
}

type grant struct {
	scope *string
	next  *grant
}

// newSessions makes sessions that fill that many bytes, estimated from the
// first few thousand.
func newSessions(bytes int) *sessions {
	s := &sessions{byToken: map[string]*session{}}
	order := rand.New(rand.NewSource(1))
	const first = 16384
	before := liveBytes()
	for i := 0; i < first; i++ {
		s.addSession(order)
	}
	s.each = (liveBytes() - before) / first
	s.fillTable(bytes/s.each, order)
	runtime.GC()
	return s
}

// makeMore returns further sessions that fill that many bytes; nil for 0 bytes.
func (s *sessions) makeMore(bytes int) *sessions {
	if bytes <= 0 {
		return nil
	}
	more := &sessions{byToken: map[string]*session{}, each: s.each}
	more.fillTable(bytes/s.each, rand.New(rand.NewSource(2)))
	return more
}

func (s *sessions) fillTable(n int, order *rand.Rand) {
	for len(s.all) < n {
		s.addSession(order)
	}
	order.Shuffle(len(s.all), func(i, k int) { s.all[i], s.all[k] = s.all[k], s.all[i] })
	for i, one := range s.all {
		for k := range one.friends {
			one.friends[k] = s.all[(i+k+1)%len(s.all)]
		}
	}
}

func liveBytes() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func (s *sessions) addSession(order *rand.Rand) {
	n := len(s.all)
	one := &session{token: fmt.Sprintf("t%07d", n)}
	one.user = &user{name: newWord("user", n), region: newWord("region", n%97), locale: newWord("locale", n%31)}
	for i := 0; i < 4+order.Intn(8); i++ {
		one.grants = &grant{scope: newWord("scope", i), next: one.grants}
	}
	s.byToken[one.token] = one
	s.all = append(s.all, one)
}

func newWord(kind string, n int) *string {
	w := fmt.Sprintf("%s-%d", kind, n)
	return &w
}

// authorise finds the session of a bearer token, computes the token's signature in
// that many rounds, and checks that the session may read.
func (s *sessions) authorise(r *http.Request, rounds int) *session {
	one := s.byToken[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	if one == nil || computeSignature(one.token, rounds) == 0 {
		return nil
	}
	for g := one.grants; g != nil; g = g.next {
		if *g.scope == "scope-0" {
			return one
		}
	}
	return nil
}

// computeSignature stands for a signature's arithmetic; it is never 0.
//
//go:noinline
func computeSignature(token string, rounds int) uint64 {
	x := uint64(len(token)) | 1
	for i := 0; i < rounds; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// store is a remote session store behind a connection that the serving
// goroutine reads and writes itself.
type store struct {
	client  *resp.Client
	permits chan struct{} // one for each connection; nil: any number
}

func newStore(addr string, connections int) *store {
	if addr == "" {
		return nil
	}
	s := &store{client: &resp.Client{Addr: addr}}
	if connections > 0 {
		s.permits = make(chan struct{}, connections)
	}
	return s
}

func (s *store) checkSession(one *session) error {
	if s == nil {
		return nil
	}
	if s.permits != nil {
		s.permits <- struct{}{}
		defer func() { <-s.permits }()
	}
	_, err := s.client.Get("session:" + one.token)
	return err
}
