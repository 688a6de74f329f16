// Package gostack says what a goroutine waits for, by the functions on its stack.
//
// Its opinion: functions of Go's library and of common packages that block are a table; a stack in none of them waits for what the program's own
// code says. Names of functions are those of Go's symbol table: "main.(*cache).get".
package gostack

import (
	"slices"
	"strings"
)

// Awaited is the kind of thing that a goroutine waits for.
type Awaited uint8

// What goroutines wait for in functions that are known to block.
const (
	Nothing    Awaited = iota
	Lock               // a mutex
	Pool               // a place in a pool or a semaphore
	Join               // other goroutines, until they have finished
	Connection         // a connection of net/http's client: a dial, or one that is handed back
	Collector          // a phase of GC
	Answer             // a dependency's answer, which another goroutine reads
)

// Wait is the reason of a wait, with its name for people: "mutex in main.(*cache).get", "net/http client".
type Wait struct {
	For  Awaited
	Name string
}

// waitFunc is a function that blocks.
type waitFunc struct {
	prefix string
	what   Awaited
	name   string
}

func (w waitFunc) isFunction(f string) bool {
	whole, isWhole := strings.CutSuffix(w.prefix, "$")
	return isWhole && f == whole || !isWhole && strings.HasPrefix(f, w.prefix)
}

// waitFuncs are the functions that block for something known: the innermost
// that is listed decides. Match is by prefix; entries ending in $ match whole.
var waitFuncs = []waitFunc{
	{"runtime.gcStart", Collector, "start of a cycle"},
	{"runtime.gcMarkDone", Collector, "end of a cycle"},
	{"sync.(*WaitGroup).Wait$", Join, ""},
	{"golang.org/x/sync/errgroup.(*Group).Wait$", Join, ""},
	{"golang.org/x/sync/singleflight.", Join, ""},
	{"sync.(*Once).", Join, ""},
	{"database/sql.(*DB).conn$", Pool, "database/sql pool"},
	{"golang.org/x/sync/semaphore.(*Weighted).Acquire", Pool, "semaphore"},
	{"github.com/redis/go-redis/v9/internal/pool.(*ConnPool).waitTurn", Pool, "go-redis pool"},
	{"github.com/redis/go-redis/v9/internal/pool.(*ConnPool).Get", Pool, "go-redis pool"},
	{"github.com/go-redis/redis/v8/internal/pool.(*ConnPool).waitTurn", Pool, "go-redis pool"},
	{"github.com/gomodule/redigo/redis.(*Pool).", Pool, "redigo pool"},
	{"github.com/jackc/puddle/", Pool, "pgx pool"},
	{"github.com/jackc/pgx/v5/pgxpool.(*Pool).Acquire", Pool, "pgx pool"},
	{"go.mongodb.org/mongo-driver/x/mongo/driver/topology.(*pool).checkOut", Pool, "mongo pool"},
	{"net/http.(*persistConn).roundTrip$", Answer, "net/http client"},
	{"net/http.(*http2clientStream).", Answer, "net/http client"},
	{"net/http.(*http2ClientConn).", Answer, "net/http client"},
	{"google.golang.org/grpc/internal/transport.(*recvBufferReader).", Answer, "google.golang.org/grpc"},
	{"google.golang.org/grpc/internal/transport.(*ClientStream).waitOnHeader", Answer, "google.golang.org/grpc"},
	{"google.golang.org/grpc/internal/transport.(*Stream).waitOnHeader", Answer, "google.golang.org/grpc"}, // earlier versions
	{"google.golang.org/grpc/internal/transport.(*http2Client).NewStream", Pool, "streams of a gRPC connection"},
	{"net/http.(*Transport).getConn", Connection, ""},
	{"net/http.(*Transport).queueForDial", Connection, ""},
	{"sync.(*Mutex).", Lock, "mutex"},
	{"sync.(*RWMutex).", Lock, "rwmutex"},
	{"internal/sync.(*Mutex).", Lock, "mutex"},
	{"internal/sync.(*HashTrieMap", Lock, "sync.Map"},
	{"sync.(*Map).", Lock, "sync.Map"},
	{"internal/poll.(*fdMutex).rwlock", Lock, "file descriptor"},
}

// WaitOf says what a stack, innermost function first, waits for in a function that is known to block; Nothing where there is none.
func WaitOf(funcs []string) Wait {
	for i, f := range funcs {
		n := slices.IndexFunc(waitFuncs, func(w waitFunc) bool { return w.isFunction(f) })
		if n < 0 {
			continue
		}
		w := Wait{waitFuncs[n].what, waitFuncs[n].name}
		if w.For == Lock || w.For == Pool {
			w.Name += calledFrom(funcs[i+1:])
		}
		return w
	}
	return Wait{}
}

func isWait(f string) bool {
	return slices.ContainsFunc(waitFuncs, func(w waitFunc) bool { return w.isFunction(f) })
}

// calledFrom names the first caller outside the packages that implement locks
// and pools: " in main.(*cache).get".
func calledFrom(funcs []string) string {
	for _, f := range funcs {
		if isWait(f) || strings.HasPrefix(f, "sync.") || strings.HasPrefix(f, "internal/") || strings.HasPrefix(f, "database/sql.") || strings.HasPrefix(f, "google.golang.org/grpc") {
			continue
		}
		return " in " + f
	}
	return ""
}
