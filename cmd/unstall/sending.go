package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/internal/collect/probe"
	"github.com/unstall/unstall/internal/collect/record"
	"github.com/unstall/unstall/internal/present/text"
)

// besides holds the flags of a load made while a target is recorded. Flags that unstall load also has mean the same.
type besides struct {
	Load        string   `placeholder:"URL|FILE" help:"Send requests to this URL while recording: at --rate, or as fast as responses arrive. Or run the journeys of this file (docs/load.md)."`
	Var         []string `sep:"none" placeholder:"NAME=VALUE" help:"With --load FILE: a value for a name under the file's vars; may be repeated."`
	Rate        *float64 `short:"r" placeholder:"N" help:"With --load: requests per second, sent without waiting for earlier responses."`
	Connections int      `short:"c" placeholder:"N" help:"With --load and without --rate: how many connections (default 125)."`
	HTTP2       bool     `name:"http2" help:"With --load: use HTTP/2, as unstall load --http2 does."`
	Streams     int      `placeholder:"N" help:"With --load and --http2: concurrent requests on each connection."`
	Poisson     bool     `help:"With --load: send at random times, like many independent users (Poisson), instead of evenly."`
	Spike       string   `placeholder:"20x[@AT,FOR]" help:"With --load: multiply the rate in the middle fifth of the time, or as given: 20x@4s,2s."`
	Method      string   `short:"X" placeholder:"GET" help:"With --load: the method."`
	Header      []string `short:"H" sep:"none" placeholder:"'NAME: VALUE'" help:"With --load: a header; may be repeated."`
	Body        string   `placeholder:"TEXT|@FILE" help:"With --load: the body of each request."`
	Paths       []string `name:"path" sep:"none" placeholder:"PATH" help:"With --load: paths to use in turn instead of the URL's; may be repeated."`
	Insecure    bool     `short:"k" help:"With --load: accept any TLS certificate."`
}

// sending is a load made while targets are recorded.
type sending struct {
	load   record.Generator
	result *load.Result // set once the load was made
}

// newSending returns a load that lasts d, the time of the recording; nil if no load was requested.
func (b *besides) newSending(d time.Duration) (*sending, error) {
	if b.Load == "" {
		if b.Rate != nil {
			return nil, fmt.Errorf("--rate %g: it is the rate of --load: also give --load URL", *b.Rate)
		}
		return nil, nil
	}
	c := loadCommand{URL: b.Load, Rate: b.Rate, Connections: b.Connections, HTTP2: b.HTTP2, Streams: b.Streams, For: d, Poisson: b.Poisson, Spike: b.Spike,
		Method: b.Method, Header: b.Header, Body: b.Body, Paths: b.Paths, Insecure: b.Insecure}
	if c.Var = b.Var; c.isJourney() {
		g, err := c.readJourneys()
		return &sending{load: g}, err
	}
	p, err := c.buildPlan()
	if err == nil {
		err = p.Check()
	}
	return &sending{load: record.Planned(p)}, err
}

// checkReachable returns an error if the service does not answer at all. Journeys find that out themselves, page by page.
func (x *sending) checkReachable(ctx context.Context) error {
	if g, ok := x.load.(interface{ Reach(context.Context) error }); ok {
		return g.Reach(ctx)
	}
	return nil
}

// runLoad returns the function that makes the load while the recording runs.
func (x *sending) runLoad(s *session, targets []discover.Target) func(context.Context, probe.Sink) error {
	about := loadedTarget(x.load.Plan().URL, targets)
	progress := &loadProgress{line: text.NewProgress(s.err)}
	return record.RunGenerator(x.load, about, progress, func(r *load.Result) {
		progress.line.Done()
		x.result = r
		for _, w := range r.Warnings {
			s.printNote("load: %s", w)
		}
	})
}

// loadedTarget returns the target of a load: the only target, or the one of several that listens at the load's port; none if that
// is unknown.
func loadedTarget(address string, targets []discover.Target) evidence.Subject {
	if len(targets) == 1 {
		return targets[0].Subject()
	}
	u, err := url.Parse(address)
	if err != nil {
		return evidence.Subject{}
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	for _, t := range targets {
		if slices.ContainsFunc(t.Listens, func(l discover.Listener) bool {
			return l.Addr.IsValid() && strconv.Itoa(int(l.Addr.Port())) == port
		}) {
			return t.Subject()
		}
	}
	return evidence.Subject{}
}
