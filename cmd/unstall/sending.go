package main

import (
	"context"
	"fmt"
	"time"

	"github.com/unstall/unstall/discover"
	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/load"
	"github.com/unstall/unstall/probe"
	"github.com/unstall/unstall/record"
	"github.com/unstall/unstall/report/text"
)

// besides is the load that can be made while a target is recorded. Flags that
// unstall load has, too, mean the same.
type besides struct {
	Load        string   `placeholder:"URL" help:"Make requests to this URL while recording: at --rate, or as fast as answers come."`
	Rate        *float64 `short:"r" placeholder:"N" help:"With --load: requests per second, sent whether or not earlier ones were answered."`
	Connections int      `short:"c" placeholder:"N" help:"With --load and without --rate: how many connections (default 125)."`
	Poisson     bool     `help:"With --load: send at random times, like many independent users (Poisson), instead of evenly."`
	Spike       string   `placeholder:"20x[@AT,FOR]" help:"With --load: multiply the rate in the middle fifth of the time, or as given: 20x@4s,2s."`
	Method      string   `short:"X" placeholder:"GET" help:"With --load: the method."`
	Header      []string `short:"H" sep:"none" placeholder:"'NAME: VALUE'" help:"With --load: a header; may be repeated."`
	Body        string   `placeholder:"TEXT|@FILE" help:"With --load: the body of each request."`
	Paths       []string `name:"path" sep:"none" placeholder:"PATH" help:"With --load: paths to take in turn instead of the URL's; may be repeated."`
	Insecure    bool     `short:"k" help:"With --load: accept any TLS certificate."`
}

// sending is a load to be made while targets are recorded.
type sending struct {
	plan   load.Plan
	result *load.Result // once it was made
}

// sending returns the load for as long as is recorded; nil if none was asked for.
func (b *besides) sending(d time.Duration) (*sending, error) {
	if b.Load == "" {
		if b.Rate != nil {
			return nil, fmt.Errorf("--rate %g: it is the rate of --load: give --load URL as well", *b.Rate)
		}
		return nil, nil
	}
	c := loadCommand{URL: b.Load, Rate: b.Rate, Connections: b.Connections, For: d, Poisson: b.Poisson, Spike: b.Spike,
		Method: b.Method, Header: b.Header, Body: b.Body, Paths: b.Paths, Insecure: b.Insecure}
	p, err := c.plan()
	if err == nil {
		err = p.Check()
	}
	return &sending{plan: p}, err
}

// run is what runs beside the recording.
func (x *sending) run(s *session, targets []discover.Target) func(context.Context, probe.Sink) error {
	var about evidence.Subject
	if len(targets) == 1 {
		about = targets[0].Subject()
	}
	progress := &loadProgress{line: text.NewProgress(s.err)}
	return record.Load(x.plan, about, progress, func(r *load.Result) {
		progress.line.Done()
		x.result = r
		for _, w := range r.Warnings {
			s.note("load: %s", w)
		}
	})
}
