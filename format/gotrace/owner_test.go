package gotrace

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/evidence"
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
