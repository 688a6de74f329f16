package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/operate/watch"
	"github.com/unstall/unstall/internal/operate/watch/exporter"
	"github.com/unstall/unstall/internal/operate/watch/notify"
	"github.com/unstall/unstall/internal/present/sentence"
)

// watchLive watches processes until the program is interrupted.
func (c *watchCommand) watchLive(s *session) error {
	rules, err := rulesOf(c.Rules, nil)
	if err != nil {
		s.reportError(wrongUse, err)
		return nil
	}
	if len(c.Targets) > 0 && c.Discover {
		return errors.New("--discover watches all processes here: omit the names, or --discover")
	}
	size, err := bytesOf(c.Ring)
	if err != nil {
		return fmt.Errorf("--ring: %w", err)
	}
	captures, err := bytesOf(c.Captures)
	if err != nil {
		return fmt.Errorf("--captures: %w", err)
	}
	if c.After < time.Second || c.After > 10*time.Minute {
		return fmt.Errorf("--after %s: give 1s to 10m", c.After)
	}
	beNice()
	debug.SetGCPercent(50)         // memory is worth more than time here
	debug.SetMemoryLimit(48 << 20) // the watcher's limit is 64 MiB
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	go releasePages(ctx)
	out := s.out
	if c.Log != "" {
		f, err := os.OpenFile(c.Log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			s.reportError(unreadable, fmt.Errorf("--log %s: %w", c.Log, errors.Unwrap(err)))
			return nil
		}
		defer f.Close()
		out = f
	}
	probes, others := (&recording{}).chooseProbes()
	kernel, _ := (&recording{Kernel: true}).chooseProbes()
	opt := watch.Options{Targets: c.Targets, Discover: c.Discover, Except: os.Getpid(), Rules: rules, Dir: c.stateDir(), RingSize: size, Captures: captures, After: c.After, Sample: c.Sample, Quiet: c.Quiet,
		Tool: programVersion(), Command: os.Args, Log: out, Probes: probes, Others: others, Kernel: kernel,
		Resolve: func(ctx context.Context, arg string) (discover.Target, error) {
			return discover.Resolve(ctx, arg, platform.Recognisers())
		},
		Find: func(ctx context.Context) (all []discover.Target, err error) {
			found, err := discover.Discover(ctx, platform.Recognisers())
			for _, f := range found {
				all = append(all, f.Target)
			}
			return all, err
		},
		Diagnose: c.diagnoseCapture,
		Brief:    sentence.Brief,
	}
	if c.SLO != nil {
		opt.SLO = *c.SLO
	}
	if opt.Stores, err = c.openStores(); err != nil {
		return err
	}
	if opt.Hooks, err = c.openWebhooks(); err != nil {
		return err
	}
	opt.Metrics, opt.PushEach = c.Metrics, c.Push
	w, err := watch.New(opt)
	if err != nil {
		return err
	}
	return w.Run(ctx)
}

// openWebhooks returns the receivers of --webhook.
func (c *watchCommand) openWebhooks() (all []*notify.Hook, err error) {
	token, err := c.readToken()
	if err != nil {
		return nil, err
	}
	for _, arg := range c.Webhook {
		h, err := notify.Open(arg, token)
		if err != nil {
			return nil, fmt.Errorf("--webhook: %w", err)
		}
		all = append(all, h)
	}
	return all, nil
}

// openStores returns the stores that figures are sent to.
func (c *watchCommand) openStores() (all []exporter.Store, err error) {
	if c.Push < time.Second {
		return nil, fmt.Errorf("--push-every %s: give 1s or more", c.Push)
	}
	token, err := c.readToken()
	if err != nil {
		return nil, err
	}
	host := c.ZHost
	if host == "" {
		host, _ = os.Hostname()
	}
	for _, x := range []struct {
		flag, given string
		open        func() (exporter.Store, error)
	}{
		{"remote-write", c.Write, func() (exporter.Store, error) { return exporter.RemoteWrite(c.Write, token) }},
		{"otlp", c.OTLP, func() (exporter.Store, error) { return exporter.OTLP(c.OTLP, token) }},
		{"zabbix", c.Zabbix, func() (exporter.Store, error) { return exporter.Zabbix(c.Zabbix, host) }},
	} {
		if x.given == "" {
			continue
		}
		store, err := x.open()
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", x.flag, err)
		}
		all = append(all, store)
	}
	return all, nil
}

// readToken returns the token for stores and webhooks, "" for none.
func (c *watchCommand) readToken() (string, error) {
	if c.Token == "" {
		return os.Getenv("UNSTALL_TOKEN"), nil
	}
	text, err := os.ReadFile(c.Token)
	if err != nil {
		return "", fmt.Errorf("--token-file %s: %w", c.Token, errors.Unwrap(err))
	}
	return strings.TrimSpace(string(text)), nil
}

// stateDir returns the directory of the ring, the captures and the usual values.
func (c *watchCommand) stateDir() string {
	switch state, home := os.Getenv("XDG_STATE_HOME"), os.Getenv("HOME"); {
	case c.Dir != "":
		return c.Dir
	case os.Geteuid() == 0:
		return "/var/lib/unstall"
	case state != "":
		return filepath.Join(state, "unstall")
	case home != "":
		return filepath.Join(home, ".local", "state", "unstall")
	}
	return filepath.Join(os.TempDir(), "unstall")
}

// diagnoseCapture has another process diagnose a capture, so that the memory returns to the host and the watch continues.
func (c *watchCommand) diagnoseCapture(ctx context.Context, path string) (*diagnose.Diagnosis, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{"diagnose", "--format", "json"}
	if c.SLO != nil {
		args = append(args, "--slo", c.SLO.String())
	}
	cmd := exec.CommandContext(ctx, self, append(args, path)...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "UNSTALL_") })
	if err := cmd.Run(); err != nil {
		if line, _, _ := strings.Cut(said.String(), "\n"); line != "" {
			return nil, errors.New(strings.TrimPrefix(line, "unstall: "))
		}
		return nil, err
	}
	d := new(diagnose.Diagnosis)
	return d, json.Unmarshal(out.Bytes(), d)
}

// bytesOf parses a size such as 256MiB or 1GiB.
func bytesOf(text string) (int64, error) {
	for _, u := range []struct {
		name string
		size float64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"G", 1 << 30}, {"M", 1 << 20}} {
		number, is := strings.CutSuffix(text, u.name)
		var v float64
		if _, err := fmt.Sscanf(number, "%g", &v); is && err == nil && v*u.size >= 1<<20 && v*u.size < 1<<50 {
			return int64(v * u.size), nil
		}
	}
	return 0, fmt.Errorf("%s is not a size: give 256MiB or 2GiB", text)
}
