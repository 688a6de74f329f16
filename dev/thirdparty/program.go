package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/unstall/unstall/lab/process"
)

// A program is one that others wrote.
type program struct {
	name     string
	fetch    fetcher
	start    func(*place) // fills in how it runs when it is healthy
	variants []variant
}

// A fetcher has one way to get a program.
type fetcher interface {
	fetchInto(ctx context.Context, home string) error // returns at once if it is there
	String() string                                   // what, in which version, from where
}

// A variant is a program healthy, or sick by one plain setting.
type variant struct {
	name  string
	truth string // what is wrong, or why nothing is
	sick  func(*place)
	load  []traffic // nil: the healthy one's
}

// A place is where and how one run of a program goes.
type place struct {
	home  string // what was fetched
	dir   string // empty at first; its data, and its working directory
	ports map[string]int

	bin     string
	args    []string
	env     []string
	main    string // where requests go, host:port
	pprof   string // URL of its net/http/pprof, if it has one
	ready   func(context.Context) error
	prepare func(context.Context) error // data to begin with
	load    []traffic

	quota    float64        // CPUs it may use; 0: all
	group    *process.Quota // with that, while it runs
	burn     int            // threads of a neighbour that burns CPU
	backend  time.Duration  // how long the backend takes to answer; there is one if its port was asked for
	within   int            // how many the backend answers at a time; 0: all
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
