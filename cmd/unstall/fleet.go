package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/operate/fleet"
	"github.com/unstall/unstall/internal/operate/fleet/promql"
)

type fleetCommand struct {
	Store     string        `env:"UNSTALL_STORE" required:"" placeholder:"URL" help:"The store of metrics that hosts write to: Prometheus, VictoriaMetrics or another that answers PromQL; the address before /api/v1. NAME:PASSWORD@ in it is sent, too."`
	TokenFile string        `placeholder:"FILE" help:"A file with the token for the store (default: UNSTALL_STORE_TOKEN)."`
	Since     time.Duration `default:"24h" placeholder:"24h" help:"How far back from now."`
	Service   string        `placeholder:"NAME" help:"Only this service."`
	Fail      bool          `help:"Exit with 1 if a host differs from its peers or a version made latency worse."`
	output
}

// leastWindow is the shortest window of a report, because counters are read in steps of minutes.
const leastWindow = 15 * time.Minute

func (c *fleetCommand) Run(s *session) error {
	form, err := c.chooseForm(false)
	switch {
	case err != nil:
		return err
	case form.Fleet == nil:
		return fmt.Errorf("--format %s: fleet writes text or json", form.Name)
	case c.Since < leastWindow:
		return fmt.Errorf("--since %s: give at least %s: hosts write about once a minute", c.Since, leastWindow)
	case !s.checkOutput(c.Output):
		return nil
	}
	token := os.Getenv("UNSTALL_STORE_TOKEN")
	if c.TokenFile != "" {
		text, err := os.ReadFile(c.TokenFile)
		if err != nil {
			s.reportError(unreadable, discover.Explain(fmt.Errorf("%s: %w", c.TokenFile, errors.Unwrap(err))))
			return nil
		}
		token = strings.TrimSpace(string(text))
	}
	store, err := promql.Open(c.Store, token)
	if err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r, err := fleet.Of(ctx, store, fleet.Options{Since: c.Since, Service: c.Service, Version: programVersion(), Now: time.Now()})
	if err != nil {
		s.reportError(unreadable, err)
		return nil
	}
	s.writeOutput(c.Output, nil, func(w io.Writer) error { return form.Fleet(w, r) })
	if c.Fail && (len(r.Unlike) > 0 || len(r.Versions) > 0 && r.Versions[0].Result == "worse") {
		s.code = max(s.code, found)
	}
	return nil
}
