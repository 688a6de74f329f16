package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unstall/unstall/internal/serve/capturestore"
	"github.com/unstall/unstall/internal/serve/mcp"
)

type mcpCommand struct {
	Dir         string `arg:"" optional:"" default:"." help:"The directory with the captures and files that the assistant may read (default: this one)."`
	AllowRecord bool   `help:"Also allow the assistant to record processes of this host into that directory."`
	MaxAnswer   int    `default:"24576" placeholder:"BYTES" help:"The most bytes of an answer; omissions are reported."`
}

// Run serves until its input ends. Standard output carries only the protocol.
func (c *mcpCommand) Run(s *session) error {
	if c.MaxAnswer < mcp.LeastBound {
		return fmt.Errorf("--max-answer %d: give at least %d", c.MaxAnswer, mcp.LeastBound)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	captures, err := capturestore.Open(c.Dir, programVersion())
	if err != nil {
		s.reportError(unreadable, err)
		return nil
	}
	defer captures.Close()
	opt := mcp.Options{Version: programVersion(), Bound: c.MaxAnswer, List: listProcesses}
	if c.AllowRecord {
		opt.Record = (&recordQueue{dir: c.Dir}).recordTarget
	}
	beNice()
	if err := mcp.New(captures, opt).Run(ctx, &sdk.StdioTransport{}); err != nil && ctx.Err() == nil && !errors.Is(err, sdk.ErrConnectionClosed) {
		s.reportError(unreadable, fmt.Errorf("mcp: %w", err))
	}
	return nil
}
