package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// errNoSwap says that this host cannot add swap for a recording.
var errNoSwap = errors.New("no swap file can be used here")

// addSwap makes a swap file of so many bytes and uses it until end is called.
func addSwap(ctx context.Context, size int64) (end func() error, err error) {
	name, err := fileOf(size)
	if err != nil {
		return nil, errors.Join(err, os.Remove(name))
	}
	for _, command := range [][]string{{"chmod", "600", name}, {"mkswap", name}, {"swapon", name}} {
		if said, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
			return nil, errors.Join(fmt.Errorf("%w: %s: %w: %s", errNoSwap, command[0], err, said), os.Remove(name))
		}
	}
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // also after an interrupt
		defer cancel()
		if said, err := exec.CommandContext(ctx, "swapoff", name).CombinedOutput(); err != nil {
			return fmt.Errorf("the swap file %s is left in use: swapoff: %w: %s", name, err, said)
		}
		return os.Remove(name)
	}, nil
}
