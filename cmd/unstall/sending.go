package main

import (
	"context"
	"time"

	"github.com/unstall/unstall/probe"
	"github.com/unstall/unstall/target"
)

// besides is the load that can be sent while a target is recorded.
type besides struct {
	Load string `placeholder:"URL" help:"Send requests there while recording."`
}

// sending is a load to be sent while targets are recorded.
type sending struct{}

func (b *besides) sending(d time.Duration) (*sending, error) { return nil, nil }

func (x *sending) run(s *session, targets []target.Target) func(context.Context, probe.Sink) error {
	return nil
}
