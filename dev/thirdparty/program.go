package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/unstall/unstall/lab/process"
)

// A program is a third-party program.
type program struct {
	name     string
	fetch    fetcher
	start    func(*place) // sets how the healthy program runs
	variants []variant
}

// A fetcher is one way to get a program.
type fetcher interface {
	fetchInto(ctx context.Context, home string) error // returns at once if it is there
	String() string                                   // what, in which version, from where
}

// A variant is a program healthy, or sick by one plain setting.
type variant struct {
	name  string
	truth string // the fault, or why there is none
	sick  func(*place)
	load  []traffic // nil: the healthy one's
}

// A place is the environment of one run of a program.
type place struct {
	home  string // the fetched files
	dir   string // its data and working directory; empty at first
	ports map[string]int

	bin     string
	args    []string
	env     []string
	main    string // target of requests, host:port
	pprof   string // URL of its net/http/pprof, if it has one
	ready   func(context.Context) error
	prepare func(context.Context) error // data to begin with
	load    []traffic

	quota    float64        // CPUs it may use; 0: all
	group    *process.Quota // with the quota, while it runs
	burn     int            // threads of a neighbour that burns CPU
	backend  time.Duration  // latency of the backend's answers; there is a backend if its port was taken
	within   int            // requests that the backend answers at a time; 0: all
	warm     time.Duration  // how long to make load before it is recorded; 0: as the session says
	patience time.Duration  // until it is ready; 0: 30 s
}

// portFor returns a free port of loopback, the same one for the same name.
func (p *place) portFor(name string) int {
	if n := p.ports[name]; n != 0 {
		return n
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	n := l.Addr().(*net.TCPAddr).Port
	p.ports[name] = n
	return n
}

// addressOf returns the address of a port, by its name.
func (p *place) addressOf(name string) string { return fmt.Sprintf("127.0.0.1:%d", p.portFor(name)) }

func (p *place) addEnv(pairs ...string) { p.env = append(p.env, pairs...) }
