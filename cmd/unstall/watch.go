package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/unstall/unstall/internal/base/suggest"
	"github.com/unstall/unstall/internal/operate/watch"
	"github.com/unstall/unstall/internal/operate/watch/generate"
	"github.com/unstall/unstall/internal/operate/watch/replay"
	"github.com/unstall/unstall/internal/operate/watch/rule"
	"github.com/unstall/unstall/internal/operate/watch/series"
)

type watchCommand struct {
	Targets  []string       `arg:"" optional:"" name:"target|file" help:"Processes: PIDs, names, URLs of net/http/pprof or of Redis. With --check: captures, logs, tables of figures (CSV)."`
	Discover bool           `help:"Watch all JVM, .NET, Go and Redis processes of this machine, including new ones."`
	Rules    string         `placeholder:"FILE" help:"Your own rules, in addition to the built-in ones."`
	Dir      string         `placeholder:"DIR" help:"Where to keep the last minutes, captures and usual values (default: /var/lib/unstall, without root ~/.local/state/unstall)."`
	Ring     string         `default:"256MiB" help:"The most space for the last minutes of all processes."`
	Captures string         `default:"1GiB" help:"The most space for captures of alarms; the oldest are deleted first."`
	After    time.Duration  `default:"15s" help:"How long to record in full after a rule fires."`
	Quiet    time.Duration  `default:"10m" help:"The least time between two captures of a process."`
	Sample   time.Duration  `default:"15m" help:"How often to diagnose a minute when nothing is wrong; 0s: never."`
	Metrics  string         `placeholder:"ADDRESS" help:"Serve Prometheus metrics at this address: 127.0.0.1:9464."`
	Write    string         `name:"remote-write" placeholder:"URL" help:"Send figures to a store with Prometheus remote write."`
	OTLP     string         `name:"otlp" placeholder:"URL" help:"Send figures with OTLP over HTTP: http://127.0.0.1:4318/v1/metrics."`
	Zabbix   string         `placeholder:"HOST:PORT" help:"Send figures to a Zabbix server or proxy."`
	ZHost    string         `name:"zabbix-host" placeholder:"NAME" help:"The Zabbix server's name for this machine (default: its host name)."`
	Push     time.Duration  `name:"push-every" default:"10s" help:"How often to send figures."`
	Webhook  []string       `sep:"none" env:"UNSTALL_WEBHOOK" placeholder:"[FORM=]URL" help:"Tell this address of alarms, their end, and what their captures show: json, slack, mattermost, teams, otlp (logs) or alertmanager (default: by the address, else json). May be repeated."`
	TestHook bool           `name:"test-webhook" help:"With --webhook: send a test message to each address now, and say which took it."`
	Token    string         `name:"token-file" placeholder:"FILE" help:"A file with the token for stores, and for webhooks that are json, otlp or alertmanager (default: UNSTALL_TOKEN)."`
	Generate string         `placeholder:"FORM" help:"Write the rules for another system: prometheus, grafana or zabbix."`
	Log      string         `placeholder:"FILE" help:"Where to append lines of JSON (default: standard output)."`
	Check    string         `placeholder:"RULES" help:"Check a recording against rules: a file of rules, or default for the built-in ones."`
	SLO      *time.Duration `name:"slo" env:"UNSTALL_SLO" placeholder:"300ms" help:"Requests that take longer are slow."`
	Fail     bool           `help:"With --check: exit with 1 if a rule fired."`
	Print    bool           `name:"print-rules" help:"Print the built-in rules, as a start for your own."`
	Series   bool           `help:"List the series that rules can name."`
	Format   string         `enum:"text,json" default:"text" help:"With --check: text or json."`
}

func (c *watchCommand) Run(s *session) error {
	switch {
	case c.Print:
		_, err := s.out.Write(rule.ShippedText())
		return err
	case c.Series:
		return listSeries(s.out)
	case c.TestHook:
		return c.testWebhooks(s)
	case c.Generate != "":
		return c.generateRules(s)
	case c.Check == "" && c.Fail:
		return errors.New("--fail needs --check: also give --check RULES")
	case c.Check == "":
		return c.watchLive(s)
	case len(c.Targets) == 0:
		return errors.New("--check: give a recording: captures, logs, or tables of figures (CSV)")
	}
	return c.checkRecordings(s)
}

// testWebhooks sends a test message to each webhook.
func (c *watchCommand) testWebhooks(s *session) error {
	if len(c.Webhook) == 0 {
		return errors.New("--test-webhook: also give --webhook URL")
	}
	hooks, err := c.openWebhooks()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	host, _ := os.Hostname()
	for _, h := range hooks {
		if err := h.Test(ctx, watch.TestEvent(host, time.Now())); err != nil {
			s.reportError(unreadable, fmt.Errorf("webhook %s %s did not take the test message: %w", h.Form.Name, h.Where, err))
			continue
		}
		fmt.Fprintf(s.out, "webhook %s %s took the test message\n", h.Form.Name, h.Where)
	}
	return nil
}

// checkRecordings evaluates rules against recordings.
func (c *watchCommand) checkRecordings(s *session) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	sources, ok := c.readSources(s)
	if !ok {
		return nil
	}
	var also []string
	for _, x := range sources {
		for _, y := range x.Series {
			also = append(also, y.ID)
		}
	}
	rules, err := rulesOf(c.Check, also)
	if err != nil {
		s.reportError(wrongUse, err)
		return nil
	}
	r, err := replay.Run(ctx, rules, nil, sources)
	if err != nil {
		s.reportError(unreadable, errors.New("interrupted"))
		return nil
	}
	s.writeOutput("", nil, func(w io.Writer) error {
		if c.Format == "json" {
			return r.JSON(w, len(rules))
		}
		return r.Text(w, len(rules), ownRules(rules))
	})
	if c.Fail && len(r.Alarms()) > 0 {
		s.code = max(s.code, found)
	}
	return nil
}

// ownRules returns those of the rules that do not come with unstall.
func ownRules(rules []rule.Rule) []rule.Rule {
	shipped, err := rule.Shipped()
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(rules), func(r rule.Rule) bool {
		return slices.ContainsFunc(shipped, func(s rule.Rule) bool { return s.ID == r.ID })
	})
}

// readSources reads recordings. Each table of figures is a source of its own; all other files are the evidence of one incident.
func (c *watchCommand) readSources(s *session) (all []replay.Source, ok bool) {
	var files []string
	for _, name := range c.Targets {
		f, err := os.Open(name)
		if err != nil {
			files = append(files, name) // the error is reported there
			continue
		}
		of, odd, err := replay.Table(f, name)
		_ = f.Close()
		switch {
		case errors.Is(err, replay.ErrNoTable):
			files = append(files, name)
			continue
		case err != nil:
			s.reportError(unreadable, err)
			return nil, false
		case odd > 0:
			s.printNote("warning: %s: %d figures were not understood", name, odd)
		}
		all = append(all, of...)
	}
	if len(files) > 0 {
		b := s.readFiles(files)
		if b == nil {
			return nil, false
		}
		slo := time.Duration(0)
		if c.SLO != nil {
			slo = *c.SLO
		}
		all = append(all, replay.Sources(b, slo)...)
	}
	return all, true
}

// rulesOf reads a file of rules.
func rulesOf(name string, also []string) ([]rule.Rule, error) {
	if name == "" || name == "default" {
		return rule.Shipped()
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, errors.Unwrap(err))
	}
	defer f.Close()
	slices.Sort(also)
	return rule.Load(f, name, slices.Compact(also))
}

// generateRules writes the rules in the form of another system.
func (c *watchCommand) generateRules(s *session) error {
	form, ok := generate.Of(c.Generate)
	if !ok {
		if meant := suggest.Nearest(c.Generate, generate.Names()); meant != "" {
			return fmt.Errorf("--generate %s: do you mean %s?", c.Generate, meant)
		}
		return fmt.Errorf("--generate %s: give %s", c.Generate, strings.Join(generate.Names(), ", "))
	}
	rules, err := rulesOf(c.Rules, nil)
	if err != nil {
		s.reportError(wrongUse, err)
		return nil
	}
	return form.Write(s.out, rules)
}

func listSeries(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, x := range series.All {
		labels := ""
		if x.Metric.Labels != "" {
			labels = "{" + x.Metric.Labels + "}"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s%s\n", x.ID, x.Unit, x.About, x.Metric.Full(), labels)
	}
	return t.Flush()
}
