package service

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// goPools are the functions of Go's libraries in which goroutines wait until a pool has a connection for them. One that opens a
// connection there has other functions above.
var goPools = []struct{ begins, name string }{
	{"database/sql.(*DB).conn", "database/sql"},
	{"github.com/jackc/puddle", "pgx"},
	{"github.com/gomodule/redigo/redis.(*Pool).", "redigo"},
	{"github.com/redis/go-redis/v9/internal/pool.(*ConnPool).waitTurn", "go-redis"},
	{"github.com/go-redis/redis/v8/internal/pool.(*ConnPool).waitTurn", "go-redis"},
	{"go.mongodb.org/mongo-driver/x/mongo/driver/topology.(*pool).checkOut", "mongo"},
}

// implementing are packages that wait for others' code.
var implementing = []string{"runtime.", "internal/", "sync.", "context.", "time.", "golang.org/x/sync/semaphore."}

// goPoolOf returns the pool that a goroutine waits for, "" if there is none.
func goPoolOf(c *check.Case, stack evidence.StackID) string {
	for _, f := range c.Bundle.Stacks.Frames(stack) {
		name := c.Bundle.Names.Text(f.Func)
		if hasAnyPrefix(name, implementing) {
			continue
		}
		for _, p := range goPools {
			if strings.HasPrefix(name, p.begins) {
				return p.name
			}
		}
		return ""
	}
	return ""
}

func hasAnyPrefix(s string, with []string) bool {
	for _, p := range with {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// judgePoolDump judges by a single look at a Go program's goroutines: those that wait in a pool's own code are its queue.
func judgePoolDump(c *check.Case) (v check.Verdict, ok bool) {
	kind := c.Bundle.Names.Lookup("goroutine")
	if kind == 0 || c.Ledger != nil {
		return v, false
	}
	type queue struct {
		artifact evidence.ArtifactID
		pool     string
	}
	waiting := make(map[queue]float64)
	pools := make(map[evidence.StackID]string)
	var most float64
	var pool string
	var origin evidence.Origin
	s := &c.Bundle.Samples
	for i := range s.Len() {
		if s.Type[i] != kind || s.Subject[i] != c.Subject && !c.Bundle.Agree(c.Bundle.Subjects[s.Subject[i]], c.Bundle.Subjects[c.Subject]) {
			continue
		}
		name, known := pools[s.Stack[i]]
		if !known {
			name = goPoolOf(c, s.Stack[i])
			pools[s.Stack[i]] = name
		}
		if name == "" {
			continue
		}
		a, _ := s.Origin[i].Artifact()
		q := queue{a, name}
		if waiting[q] += float64(s.Value[i]); waiting[q] > most {
			most, pool, origin = waiting[q], name, s.Origin[i]
		}
	}
	if most < longQueue.Value {
		return v, false
	}
	v = check.Verdict{Rule: check.Matters, Weight: 1,
		Title:   fmt.Sprintf("Requests probably wait for an exhausted pool: %s, %s at that moment.", pool, units.Plural(int(most), "goroutine")),
		Summary: fmt.Sprintf("%s wait for a connection of the %s pool", units.Plural(int(most), "goroutine"), pool)}
	v.Weigh(most, longQueue)
	v.Evidence = append(v.Evidence, c.Figure("pool.waiting_goroutines", "goroutines that wait for a connection of the "+pool+" pool, at one look", most, "count", origin))
	v.Fix = []check.Fix{{Text: "find what holds the connections: each must be given back on every path, and code that holds one must not take another"}, enlargePool(pool)}
	v.Needs = []check.Need{{What: "a second look, to show that it stays so", Command: "curl -o goroutines.txt 'http://HOST:PORT/debug/pprof/goroutine?debug=1'"}}
	return v, true
}
