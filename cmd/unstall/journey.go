package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/internal/collect/load/journey"
	"github.com/unstall/unstall/internal/collect/record"
)

// isJourney says whether a name means a load of users on journeys: a built-in example, or a file that exists or has the extension of one.
func (c *loadCommand) isJourney() bool {
	if c.Example != "" {
		return true
	}
	if c.URL == "" || strings.Contains(c.URL, "://") {
		return false
	}
	switch strings.ToLower(filepath.Ext(c.URL)) {
	case ".yaml", ".yml":
		return true
	}
	fi, err := os.Stat(c.URL)
	return err == nil && fi.Mode().IsRegular()
}

// users is a load of journeys.
type users struct {
	script *journey.Script
	lasts  time.Duration
}

func (u users) Plan() load.Plan { return u.script.Plan() }

func (u users) Run(ctx context.Context, o load.Observer) (*load.Result, error) {
	return journey.Run(ctx, u.script, journey.Options{For: u.lasts}, o)
}

// readJourneys reads the file of journeys and refuses flags that the file itself sets.
func (c *loadCommand) readJourneys() (record.Generator, error) {
	name, text, err := c.readScript()
	if err != nil {
		return nil, err
	}
	for _, f := range []struct {
		name  string
		given bool
		where string
	}{
		{"--rate", c.Rate != nil, "scenarios"}, {"--connections", c.Connections != 0, "connections"}, {"--requests-count", c.Requests != 0, "scenarios"},
		{"--method", c.Method != "", "a step"}, {"--header", len(c.Header) > 0, "headers"}, {"--body", c.Body != "", "a step"}, {"--path", len(c.Paths) > 0, "a step"},
		{"--poisson", c.Poisson, "a scenario"}, {"--ramp", c.Ramp != "", "scenarios"}, {"--steps", c.Steps != "", "scenarios"}, {"--spike", c.Spike != "", "scenarios"},
		{"--timeout", c.Timeout != 0, "timeout"}, {"--insecure", c.Insecure, "insecure"}, {"--unix", c.Unix != "", "base"},
	} {
		if f.given {
			return nil, fmt.Errorf("%s is for a URL: for journeys, set it in %s under %s", f.name, name, f.where)
		}
	}
	set := map[string]string{}
	for _, v := range c.Var {
		key, value, ok := strings.Cut(v, "=")
		if !ok {
			return nil, fmt.Errorf("--var %s: give NAME=VALUE", v)
		}
		set[key] = value
	}
	script, err := journey.Read(name, text, set)
	if err != nil {
		return nil, err
	}
	if c.Seed != 0 {
		script.Seed = c.Seed
	}
	return users{script, c.For}, nil
}

// mostScript is the largest size of a file of journeys, in bytes.
const mostScript = 4 << 20

func (c *loadCommand) readScript() (name string, text []byte, err error) {
	if c.Example != "" {
		if c.URL != "" {
			return "", nil, fmt.Errorf("--example --example %s and %s: use only one; for another site: --var base=http://host:port", c.Example, c.URL)
		}
		text, err = journey.Example(c.Example)
		return c.Example + ".yaml", text, err
	}
	fi, err := os.Stat(c.URL)
	if err == nil && fi.Size() > mostScript {
		return "", nil, fmt.Errorf("%s: it is larger than %d MiB: is it a file of journeys?", c.URL, mostScript>>20)
	}
	if err == nil {
		text, err = os.ReadFile(c.URL)
	}
	if err != nil {
		var e *os.PathError
		if errors.As(err, &e) {
			err = e.Err
		}
		return "", nil, fmt.Errorf("%s: %w", c.URL, err)
	}
	return c.URL, text, nil
}

// printExample writes the file of a built-in example.
func (c *loadCommand) printExample(s *session) error {
	if c.Example == "" {
		return errors.New("--print is for --example")
	}
	text, err := journey.Example(c.Example)
	if err == nil {
		_, err = s.out.Write(text)
	}
	return err
}
