// Package service has what the services of the labs share: routes that are
// counted, an access log, net/http/pprof on a loopback port of its own, and
// a control channel over standard input by which a recorder starts and stops
// traces and profiles.
//
// Its opinion: control does not go over HTTP, because each control request would
// be in the trace whose requests are counted. The kernel chooses ports, and the
// service prints them on standard output. It builds with Go 1.21 and only the
// standard library, so that every toolchain can record itself.
package service

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof" // on the debug listener
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// Service is an HTTP service on a loopback port.
type Service struct {
	most   int // connections at a time, 0: any
	mux    *http.ServeMux
	routes map[string]*count
	log    *accessLog
	own    map[string]func(argument string) error

	listen, logPath, logFormat string
	control                    bool
	front                      string // address of the process that serves instead, "" none
	processes                  []int  // that serve instead
	mutexFraction, blockRate   int
}

// count is how many requests of a route have begun and ended.
type count struct{ started, finished atomic.Int64 }

// Announcement is the first line on standard output.
type Announcement struct {
	Serving string `json:"serving"` // host:port
	Debug   string `json:"debug"`   // host:port of net/http/pprof
	PID     int    `json:"pid"`
	Go      string `json:"go"`
	Procs   int    `json:"gomaxprocs"`
	// Processes serve instead of this one, if there are any: a user would record them.
	Processes []int `json:"processes,omitempty"`
}

// New returns a service whose options are among the program's flags. Call it
// before flag.Parse.
func New() *Service {
	s := &Service{mux: http.NewServeMux(), routes: map[string]*count{}, own: map[string]func(string) error{}}
	flag.StringVar(&s.listen, "listen", "127.0.0.1:0", "address to serve on; port 0 lets the kernel choose")
	flag.StringVar(&s.logPath, "access-log", "", "file for the access log")
	flag.StringVar(&s.logFormat, "access-log-format", "caddy", "caddy: JSON lines with seconds as a float; nginx: combined with $request_time (ms)")
	flag.BoolVar(&s.control, "control", false, "take commands from standard input and end with it")
	flag.IntVar(&s.mutexFraction, "mutex-fraction", 0, "runtime.SetMutexProfileFraction")
	flag.IntVar(&s.blockRate, "block-rate", 0, "runtime.SetBlockProfileRate, ns")
	return s
}

// Front says that other processes serve at an address and that this one only started them. Its state is then theirs.
func (s *Service) Front(address string, processes ...int) { s.front, s.processes = address, processes }

// Limit bounds the number of open connections; further ones wait to be accepted.
func (s *Service) Limit(connections int) { s.most = connections }

// Command adds a command to those that -control takes.
func (s *Service) Command(name string, do func(argument string) error) { s.own[name] = do }

// Handle serves a route: a path, or a prefix that ends in a slash.
func (s *Service) Handle(route string, h http.HandlerFunc) {
	c := new(count)
	s.routes[route] = c
	s.mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		c.started.Add(1)
		answer := answer{ResponseWriter: w, status: http.StatusOK}
		h(&answer, r)
		c.finished.Add(1)
		s.log.addLine(r, &answer, start, time.Now())
	})
}

// answer records the response to a request.
type answer struct {
	http.ResponseWriter
	status, bytes int
}

func (a *answer) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	n, err := a.ResponseWriter.Write(p)
	a.bytes += n
	return n, err
}

// Run serves until it is interrupted or, with -control, until standard input
// ends. It exits the program.
func (s *Service) Run() {
	if err := s.runService(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (s *Service) runService() (err error) {
	if s.log, err = openAccessLog(s.logPath, s.logFormat); err != nil {
		return err
	}
	runtime.SetMutexProfileFraction(s.mutexFraction)
	runtime.SetBlockProfileRate(s.blockRate)
	serving, err := net.Listen("tcp", s.listen)
	if err != nil {
		return err
	}
	debug, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(debug, nil)
	at := serving.Addr().String()
	if s.most > 0 {
		serving = &gate{serving, make(chan struct{}, s.most)}
	}
	failed := make(chan error, 2)
	go func() { failed <- http.Serve(serving, s.mux) }()

	out := json.NewEncoder(os.Stdout)
	if s.front != "" {
		at = s.front
	}
	out.Encode(Announcement{at, debug.Addr().String(), os.Getpid(), runtime.Version(), runtime.GOMAXPROCS(0), s.processes})
	if s.control {
		go func() { failed <- s.serveCommands(os.Stdin, out) }()
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	select {
	case err = <-failed:
	case <-stop:
	}
	if e := s.log.close(); err == nil {
		err = e
	}
	return err
}
