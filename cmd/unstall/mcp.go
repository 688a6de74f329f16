package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unstall/unstall/internal/serve/assistant"
	"github.com/unstall/unstall/internal/serve/shelf"
)

type mcpCommand struct {
	Dir         string `arg:"" optional:"" default:"." help:"The directory with the captures and files that may be read (default: this one)."`
	AllowRecord bool   `help:"Also let the assistant record processes of this host into that directory."`
	MaxAnswer   int    `default:"24576" placeholder:"BYTES" help:"The most bytes an answer may have; what is left out is said."`
}

// Run serves until its input ends. Its output is the protocol's alone.
func (c *mcpCommand) Run(s *session) error {
	if c.MaxAnswer < assistant.LeastBound {
		return fmt.Errorf("--max-answer %d: give at least %d", c.MaxAnswer, assistant.LeastBound)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	captures, err := shelf.Open(c.Dir, version())
	if err != nil {
		s.fail(unreadable, err)
		return nil
	}
	defer captures.Close()
	opt := assistant.Options{Version: version(), Bound: c.MaxAnswer, List: here}
	if c.AllowRecord {
		opt.Record = (&desk{dir: c.Dir}).record
	}
	beNice()
	if err := assistant.New(captures, opt).Run(ctx, &mcp.StdioTransport{}); err != nil && ctx.Err() == nil && !errors.Is(err, mcp.ErrConnectionClosed) {
		s.fail(unreadable, fmt.Errorf("mcp: %w", err))
	}
	return nil
}
