package gotrace

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
)

// order is handed to a goroutine that owns a book, and is answered.
type order struct{ done chan bool }

type book struct {
	orders chan order
	cond   *sync.Cond
	queue  []*sync.WaitGroup
}

func (b *book) keep() {
	for o := range b.orders {
		time.Sleep(time.Millisecond)
		o.done <- true
	}
}

func (b *book) keepGroups() {
	for {
		b.cond.L.Lock()
		for len(b.queue) == 0 {
			b.cond.Wait()
		}
		o := b.queue[0]
		b.queue = b.queue[1:]
		b.cond.L.Unlock()
		if o == nil {
			return
		}
		time.Sleep(time.Millisecond)
		o.Done()
	}
}

func (b *book) push(o *sync.WaitGroup) {
	b.cond.L.Lock()
	b.queue = append(b.queue, o)
	b.cond.L.Unlock()
	b.cond.Signal()
}

// TestOwner has requests hand work to one goroutine: all but one eighth of what each
// waits is spent in that one's queue, however it is made, and in both parts it sleeps.
func TestOwner(t *testing.T) {
	for _, c := range []struct {
		name   string
		buffer int
		groups bool
	}{{"buffered", 100, false}, {"unbuffered", 0, false}, {"wait groups and a condition", 0, true}} {
		t.Run(c.name, func(t *testing.T) {
			k := &book{orders: make(chan order, c.buffer), cond: sync.NewCond(new(sync.Mutex))}
			go k.keep()
			go k.keepGroups()
			defer func() {
				close(k.orders)
				k.push(nil)
			}()
			s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				if c.groups {
					var o sync.WaitGroup
					o.Add(1)
					k.push(&o)
					o.Wait()
					return
				}
				o := order{make(chan bool)}
				k.orders <- o
				<-o.done
			}))
			defer s.Close()
			b := record(t, func() { ask(t, s, 8, 20, "/", 0) })
			queue := func(s *evidence.Segment) bool {
				return s.Kind == evidence.PoolWait && strings.HasPrefix(b.Names.Text(s.Cause), "queue of ") && strings.Contains(b.Names.Text(s.Cause), ".(*book).keep")
			}
			all := waitsOf(b, queue)
			slept := waitsOf(b, func(s *evidence.Segment) bool { return queue(s) && s.HolderKind == evidence.SleepWait })
			served := waitsOf(b, func(s *evidence.Segment) bool { return s.Kind == evidence.SleepWait && s.Lane != 0 })
			unknown := waitsOf(b, func(s *evidence.Segment) bool { return queue(s) && s.HolderKind == evidence.KindUnknown })
			if served < 160*time.Millisecond || all < 4*served || all > 8*served || slept < all/2 || unknown > all/20 {
				t.Errorf("%v in the queue, of it %v while the owner slept and %v while it is not known what it did; %v served", all, slept, unknown, served)
			}
		})
	}
}

// TestOwnLimit has requests start eight goroutines each, two of them at a time: for three of
// the four rounds they wait for those they started before.
func TestOwnLimit(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		slots := make(chan struct{}, 2)
		var all sync.WaitGroup
		for range 8 {
			slots <- struct{}{}
			all.Add(1)
			go func() {
				defer func() {
					<-slots
					all.Done()
				}()
				time.Sleep(time.Millisecond)
			}()
		}
		all.Wait()
	}))
	defer s.Close()
	b := record(t, func() { ask(t, s, 2, 20, "/", 0) })
	limited := func(s *evidence.Segment) bool {
		return s.Kind == evidence.PoolWait && b.Names.Wait(s.Cause).Kind == evidence.GoroutineLimit
	}
	all := waitsOf(b, limited)
	slept := waitsOf(b, func(s *evidence.Segment) bool { return limited(s) && s.HolderKind == evidence.SleepWait })
	if all < 40*2*time.Millisecond || slept < all/2 {
		t.Errorf("%v at the limit, of it %v while those at work slept", all, slept)
	}
}

// TestUnread has requests write to a connection that is read late: who waits for that waits
// for a reader, not for an answer.
func TestUnread(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		c.(*net.TCPConn).SetReadBuffer(4 << 10)
		for b := make([]byte, 256<<10); err == nil; time.Sleep(time.Millisecond) {
			_, err = c.Read(b)
		}
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.(*net.TCPConn).SetWriteBuffer(4 << 10)
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { c.Write(make([]byte, 64<<10)) }))
	defer s.Close()
	b := record(t, func() { ask(t, s, 1, 20, "/", 0) })
	unread := waitsOf(b, func(s *evidence.Segment) bool {
		return s.Kind == evidence.NetWait && b.Names.Wait(s.Cause).Kind == evidence.UnreadPeer
	})
	if unread < 10*time.Millisecond {
		t.Errorf("%v for the reader", unread)
	}
}

// TestOverdue has requests give up on a goroutine that waits for a connection to an address
// that has them all in use: what they waited for is that.
func TestOverdue(t *testing.T) {
	hang := make(chan bool)
	far := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer far.Close()
	defer close(hang)
	one := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		done := make(chan bool, 1)
		go func() {
			if resp, err := one.Get(far.URL); err == nil {
				resp.Body.Close()
			}
			done <- true
		}()
		select {
		case <-done:
		case <-time.After(5 * time.Millisecond):
		}
	}))
	defer s.Close()
	b := record(t, func() { ask(t, s, 1, 20, "/", 0) })
	pooled := waitsOf(b, func(s *evidence.Segment) bool {
		return s.Kind == evidence.PoolWait && b.Names.Text(s.Cause) == clientConns
	})
	if pooled < 15*5*time.Millisecond {
		t.Errorf("%v for a connection, want 19 times 5 ms", pooled)
	}
}
