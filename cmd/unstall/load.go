package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/internal/collect/record"
	"github.com/unstall/unstall/internal/present/text"
)

type loadCommand struct {
	URL         string        `arg:"" optional:"" name:"url|file" help:"http://host:port/path. {n} in it, in headers and in the body is the number of the request, {n%2000:7} its remainder with 7 digits. Or a file of journeys (YAML, docs/load.md)."`
	Example     string        `placeholder:"NAME" help:"Run one of the built-in journeys: shop-ramp, shop-users or shop-peak. With --print, print it instead."`
	Print       bool          `help:"With --example: print the file, to be edited."`
	Var         []string      `sep:"none" placeholder:"NAME=VALUE" help:"A value for a name under vars of a file of journeys; may be repeated."`
	Rate        *float64      `short:"r" placeholder:"N" help:"Requests per second, sent without waiting for earlier responses (open loop)."`
	Connections int           `short:"c" placeholder:"N" help:"Without --rate: this many connections; each sends its next request after the response (closed loop, default 125). With --rate: at most this many connections."`
	HTTP2       bool          `name:"http2" help:"Use HTTP/2: negotiated with https, without negotiation with http (h2c)."`
	Streams     int           `placeholder:"N" help:"With --http2: concurrent requests on each connection (default 1, with --rate 100)."`
	For         time.Duration `short:"d" placeholder:"10s" help:"How long to send (default 10s)."`
	Requests    int64         `short:"n" name:"requests-count" placeholder:"N" help:"End after this many requests."`
	Method      string        `short:"X" placeholder:"GET" help:"The method."`
	Header      []string      `short:"H" sep:"none" placeholder:"'NAME: VALUE'" help:"A header; may be repeated."`
	Body        string        `placeholder:"TEXT|@FILE" help:"The body of each request."`
	Paths       []string      `name:"path" sep:"none" placeholder:"PATH" help:"Paths to use in turn instead of the URL's; may be repeated."`
	Poisson     bool          `help:"Send at random times, like many independent users (Poisson), instead of evenly."`
	Seed        uint64        `help:"Seed of the Poisson times: another seed gives another schedule."`
	Ramp        string        `xor:"pattern" placeholder:"100:1000" help:"Change the rate linearly from one to another."`
	Steps       string        `xor:"pattern" placeholder:"100,200,400" help:"One rate after the other, each for the same time."`
	Spike       string        `xor:"pattern" placeholder:"20x[@AT,FOR]" help:"Multiply the rate in the middle fifth of the time, or as given: 20x@4s,2s."`
	Timeout     time.Duration `placeholder:"10s" help:"Timeout of a request (default 10s)."`
	Insecure    bool          `short:"k" help:"Accept any TLS certificate."`
	Unix        string        `placeholder:"SOCKET" help:"Connect to a UNIX socket; the URL gives host and path."`
	Knee        bool          `help:"Find the highest rate that keeps p99 within --slo; each try takes --for (default 5s)."`
	SLO         time.Duration `name:"slo" placeholder:"50ms" help:"The p99 that --knee must keep."`
	Rows        string        `placeholder:"FILE" help:"Also write a line for each request, to diagnose with other files."`
	Format      string        `placeholder:"FORM" help:"text or json (default: by the name of the output file)."`
	Output      string        `short:"o" placeholder:"FILE" help:"Write the result to a file."`
}

func (c *loadCommand) Run(s *session) error {
	if c.Format != "" && c.Format != "text" && c.Format != "json" {
		return fmt.Errorf("--format %s: unknown format: give text|json", c.Format)
	}
	if c.Print {
		return c.printExample(s)
	}
	g, p, err := c.newGenerator()
	if err != nil {
		return err
	}
	ctx, done := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer done()
	if c.SLO != 0 && !c.Knee {
		return fmt.Errorf("--slo %s: only --knee uses it: give --knee as well", c.SLO)
	}
	if c.Knee && c.isJourney() {
		return errors.New("--knee searches for a rate of requests: give a URL instead of journeys")
	}
	if c.Knee {
		return c.findKnee(ctx, s, p)
	}
	o := &loadProgress{line: text.NewProgress(s.err)}
	if c.Rows != "" {
		f, err := createPrivate(c.Rows)
		if err != nil {
			s.reportError(unreadable, err)
			return nil
		}
		defer f.Close()
		o.rows = load.NewRowWriter(f, &p)
	}
	r, err := g.Run(ctx, o)
	o.line.Done()
	if o.rows != nil {
		if err := o.rows.Flush(); err != nil && r != nil {
			r.Warnings = append(r.Warnings, fmt.Sprintf("not all requests were written to the file: %v", err))
		}
		if r != nil {
			r.Requests = &c.Rows
		}
	}
	if r != nil {
		s.writeOutput(c.Output, nil, c.chooseRenderer(r.Table, r.JSON))
	}
	if err == nil && ctx.Err() == nil {
		err = unansweredError(r)
	}
	return c.reportFailure(s, err)
}

// unansweredError returns an error if a load got no response at all.
func unansweredError(r *load.Result) error {
	if r == nil || r.Completed > 0 || r.Unfinished == 0 {
		return nil
	}
	return fmt.Errorf("%s: none of %d requests got a response in time: is the service stopped, or slower than --timeout?", r.URL, r.Unfinished)
}

func (c *loadCommand) findKnee(ctx context.Context, s *session, p load.Plan) error {
	k, err := load.Knee(ctx, p, load.SLO{P99: c.SLO}, load.KneeOptions{Step: c.For,
		Tried: func(step load.KneeStep) { fmt.Fprintln(s.err, step.Line()) }})
	if k != nil && len(k.Steps) > 0 && k.Why != "" {
		s.writeOutput(c.Output, nil, c.chooseRenderer(k.Text, k.JSON))
	}
	return c.reportFailure(s, err)
}

func (c *loadCommand) chooseRenderer(table, json func(io.Writer) error) func(io.Writer) error {
	if c.Format == "json" || c.Format == "" && strings.HasSuffix(c.Output, ".json") {
		return json
	}
	return table
}

// reportFailure prints an error of the load and sets the exit code. It returns an error in the plan, which is wrong use, to the
// caller.
func (c *loadCommand) reportFailure(s *session, err error) error {
	switch {
	case err == nil || errors.Is(err, context.Canceled):
	case errors.Is(err, load.ErrPlan):
		return err
	default:
		s.reportError(unreadable, err)
	}
	return nil
}

// newGenerator returns the generator of the load and its plan.
func (c *loadCommand) newGenerator() (record.Generator, load.Plan, error) {
	switch {
	case c.URL == "" && c.Example == "":
		return nil, load.Plan{}, errors.New("<url> is missing: give http://host:port/path, or a file of journeys (docs/load.md)")
	case len(c.Var) > 0 && !c.isJourney():
		return nil, load.Plan{}, fmt.Errorf("--var %s: it is for a file of journeys", c.Var[0])
	}
	if c.isJourney() {
		g, err := c.readJourneys()
		if err != nil {
			return nil, load.Plan{}, err
		}
		return g, g.Plan(), nil
	}
	p, err := c.buildPlan()
	return record.Planned(p), p, err
}

// buildPlan returns the plan of the load that the flags describe.
func (c *loadCommand) buildPlan() (load.Plan, error) {
	p := load.Plan{URL: c.URL, Socket: c.Unix, Paths: c.Paths, Method: c.Method, Seed: c.Seed, Connections: c.Connections, HTTP2: c.HTTP2, Streams: c.Streams,
		Duration: c.For, Requests: c.Requests, Timeout: c.Timeout, Insecure: c.Insecure, Header: http.Header{}}
	if c.Poisson {
		p.Arrivals = load.Poisson
	}
	for _, h := range c.Header {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return p, fmt.Errorf("--header %q: give NAME: VALUE", h)
		}
		p.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	if name, ok := strings.CutPrefix(c.Body, "@"); ok {
		body, err := os.ReadFile(name)
		if err != nil {
			return p, fmt.Errorf("--body: %w", err)
		}
		p.Body = body
	} else if c.Body != "" {
		p.Body = []byte(c.Body)
	}
	if c.Rate != nil {
		if p.Rate = *c.Rate; !(p.Rate > 0) {
			return p, fmt.Errorf("--rate %g: give requests per second above zero", p.Rate)
		}
	} else if c.Ramp == "" && c.Steps == "" && c.Spike == "" && !c.Knee {
		p.Mode = load.Closed
		return p, nil
	}
	var err error
	p.Pattern, err = c.parsePattern()
	return p, err
}

// parsePattern parses --ramp, --steps and --spike; it returns nil without them.
func (c *loadCommand) parsePattern() (load.Pattern, error) {
	d := c.For
	if d == 0 {
		d = load.DefaultDuration
	}
	switch {
	case c.Ramp != "":
		rates, err := parseNumbers(c.Ramp, ":")
		if err != nil || len(rates) != 2 {
			return nil, fmt.Errorf("--ramp %s: give two rates, such as 100:1000", c.Ramp)
		}
		return load.Ramp(rates[0], rates[1], d), nil
	case c.Steps != "":
		rates, err := parseNumbers(c.Steps, ",")
		if err != nil {
			return nil, fmt.Errorf("--steps %s: give rates, such as 100,200,400", c.Steps)
		}
		return load.Steps(rates, d), nil
	case c.Spike != "":
		if c.Rate == nil {
			return nil, fmt.Errorf("--spike %s: it multiplies --rate: give --rate as well", c.Spike)
		}
		wrong := fmt.Errorf("--spike %s: give how many times the rate and, if you like, when and for how long: 20x or 20x@4s,2s", c.Spike)
		size, when, placed := strings.Cut(c.Spike, "@")
		times, err := strconv.ParseFloat(strings.TrimSuffix(size, "x"), 64)
		if err != nil || times <= 0 {
			return nil, wrong
		}
		at, lasts := d*2/5, d/5
		if placed {
			begin, length, _ := strings.Cut(when, ",")
			var err1, err2 error
			at, err1 = time.ParseDuration(begin)
			lasts, err2 = time.ParseDuration(length)
			if err1 != nil || err2 != nil || at < 0 || lasts <= 0 || at >= d {
				return nil, wrong
			}
		}
		return load.Spike(*c.Rate, times, d, at, lasts), nil
	}
	return nil, nil
}

func parseNumbers(text, separator string) (out []float64, err error) {
	for field := range strings.SplitSeq(text, separator) {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// loadProgress shows the progress of a run and stores its requests.
type loadProgress struct {
	line *text.Progress
	rows *load.RowWriter
}

func (o *loadProgress) Progress(s load.Snapshot) { o.line.Show(s.Line()) }

func (o *loadProgress) Rows(rows []load.Row) error {
	if o.rows == nil {
		return nil
	}
	return o.rows.Write(rows)
}
