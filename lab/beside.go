package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/operate/experiment"
	"github.com/unstall/unstall/lab/process"
)

// beside is a program that brings the host into the condition that a variant needs.
type beside struct {
	*process.Process
	command []string
}

// longest bounds how long a variant is measured or diagnosed at a time: settings of the
// host are put back after that even where the lab is stopped (Ctrl-Z).
const longest = 10 * time.Minute

// withHost calls do while the host is as a variant wants it.
func (s *Stand) withHost(v Variant, do func() error) error {
	if v.Of != "" {
		if of, ok := s.Variant(v.Of); ok {
			v.Host, v.Beside = of.Host, of.Beside
		}
	}
	if len(v.Host) == 0 {
		if err := s.keepBeside(v.Beside); err != nil {
			return err
		}
		return do()
	}
	lent, err := experiment.Host(s.ctx, v.Host, time.Now().Add(longest))
	if err != nil {
		return fmt.Errorf("lab %s changes settings of the host while it runs, and puts them back: %w", s.Name, err)
	}
	if err = s.keepBeside(v.Beside); err == nil {
		err = do()
	}
	return errors.Join(err, lent.End(context.WithoutCancel(s.ctx)))
}

// keepBeside keeps a program running beside the services; nil: none.
func (s *Stand) keepBeside(command []string) error {
	if s.beside != nil && !slices.Equal(s.beside.command, command) {
		s.stopBeside()
	}
	if s.beside != nil || len(command) == 0 {
		return nil
	}
	s.reportProgress("starting %s beside the services", command[0])
	var said struct{ Ready string }
	p, err := process.Start(s.ctx, s.programs.named(command[0]), command[1:], nil, filepath.Join(s.dir, command[0]+".stderr"), &said)
	if err != nil {
		return err
	}
	s.reportProgress("%s: %s", command[0], said.Ready)
	s.beside = &beside{p, command}
	return nil
}

// stopBeside stops the program that runs beside the services.
func (s *Stand) stopBeside() {
	if s.beside != nil {
		_ = s.beside.Stop() // its result does not matter
		s.beside = nil
	}
}

// limitResources puts a service and all processes it has started into a cgroup with the limits of
// its variant.
func (one *Service) limitResources(files string) (err error) {
	switch v := one.Variant; {
	case v.Memory > 0:
		one.limit, err = process.NewMemory(v.Memory)
	case v.Writes > 0:
		one.limit, err = process.NewIOPS(files, v.Writes)
	default:
		return nil
	}
	for _, pid := range one.allPIDs() {
		if err == nil && (one.dependency == nil || pid != one.dependency.PID) {
			err = one.limit.Add(pid)
		}
	}
	return err
}
