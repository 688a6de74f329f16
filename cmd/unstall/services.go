package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/internal/operate/compare"
	"github.com/unstall/unstall/internal/present"
)

// services holds the flags for loading two running services in turn. Flags that unstall load also has mean the same.
type services struct {
	Rate        *float64      `short:"r" placeholder:"N" help:"For two URLs, or with --load: requests per second, of two URLs sent to each in turn."`
	Connections int           `short:"c" placeholder:"N" help:"For two URLs, or with --load: without --rate, this many connections as fast as responses arrive; with it, at most this many."`
	Blocks      int           `default:"6" help:"How many times to load each service."`
	For         time.Duration `short:"d" default:"10s" help:"How long to load a service each time."`
	Seed        uint64        `placeholder:"N" help:"Seed of the random order (default: a new one each time, which is printed)."`
	Poisson     bool          `help:"Send at random times, like many independent users (Poisson), instead of evenly; both services of a block get the same times."`
	Spike       string        `placeholder:"20x[@AT,FOR]" help:"Multiply the rate in the middle fifth of each time, or as given: 20x@4s,2s."`
	Method      string        `short:"X" placeholder:"GET" help:"The method."`
	Header      []string      `short:"H" sep:"none" placeholder:"'NAME: VALUE'" help:"A header; may be repeated."`
	Body        string        `placeholder:"TEXT|@FILE" help:"The body of each request."`
	Paths       []string      `name:"path" sep:"none" placeholder:"PATH" help:"Paths to use in turn instead of the URL's; may be repeated."`
	Timeout     time.Duration `placeholder:"10s" help:"Timeout of a request (default 10s)."`
	Insecure    bool          `short:"k" help:"Accept any TLS certificate."`
}

// areURLs reports whether both runs are URLs of services.
func (v *services) areURLs(runs []string) bool {
	return len(runs) == 2 && strings.Contains(runs[0], "://") && strings.Contains(runs[1], "://")
}

func (v *services) checkServices(before, after string) error {
	switch b, a := compare.Path(before), compare.Path(after); {
	case b != a:
		return fmt.Errorf("path %s before, %s after: these are different loads; give both URLs the same path", b, a)
	case v.Rate == nil && v.Connections <= 0:
		return errors.New("two services: give --rate, requests per second, or --connections")
	case v.Blocks < 1:
		return fmt.Errorf("--blocks %d: give at least 1; a clear answer needs 6", v.Blocks)
	case v.For <= 0:
		return fmt.Errorf("--for %s: give a time above zero", v.For)
	}
	_, err := v.blockPlan(before, 0)
	return err
}

func (v *services) blockPlan(url string, block int) (load.Plan, error) {
	c := loadCommand{URL: url, Rate: v.Rate, Connections: v.Connections, For: v.For, Method: v.Method, Header: v.Header, Body: v.Body, Paths: v.Paths,
		Poisson: v.Poisson, Seed: v.Seed + uint64(block+1), Spike: v.Spike, Timeout: v.Timeout, Insecure: v.Insecure}
	return c.buildPlan()
}

// compareServices loads two services in interleaved blocks. Ctrl-C ends it early; it then compares the whole blocks so far.
func (s *session) compareServices(c *compareCommand, form present.Form, opt compare.Options) error {
	v := &c.services
	if err := v.checkServices(c.Runs[0], c.Runs[1]); err != nil {
		return err
	}
	if v.Seed == 0 {
		v.Seed = 1 + rand.Uint64N(1e6) // short enough to be typed
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program
	fmt.Fprintf(s.err, "%d blocks in random order (--seed %d), %s each time, about %s in all; Ctrl-C stops early and compares what was measured\n",
		v.Blocks, v.Seed, v.For, (2 * time.Duration(v.Blocks+1) * v.For).Round(time.Second))
	run := func(ctx context.Context, url string, block int) (compare.Run, error) {
		p, err := v.blockPlan(url, block)
		if err != nil {
			return compare.Run{}, err
		}
		r, err := load.Run(ctx, p, nil)
		if err != nil {
			return compare.Run{}, err
		}
		what, p99 := "warming up", ""
		if block >= 0 {
			what = fmt.Sprintf("block %d of %d", block+1, v.Blocks)
		}
		if r.Latency.P99 != nil {
			p99 = ", p99 " + units.Ms(*r.Latency.P99)
		}
		fmt.Fprintf(s.err, "%s: %s %.4g requests/s%s\n", what, url, r.Rate.Mean, p99)
		made := compare.RunOf(r, fmt.Sprintf("%s, block %d", url, block+1))
		made.Load.Duration = v.For // not the time until the last response
		return made, nil
	}
	result, err := compare.Interleaved(ctx, c.Runs[0], c.Runs[1], v.Blocks, v.Seed, opt, run)
	switch {
	case errors.Is(err, load.ErrPlan):
		return err
	case ctx.Err() != nil && err != nil:
		s.reportError(unreadable, errors.New("interrupted before both services were loaded once: nothing to compare"))
		return nil
	case err != nil:
		s.reportError(unreadable, err)
		return nil
	}
	s.writeComparison(c, form, result, nil)
	return nil
}
