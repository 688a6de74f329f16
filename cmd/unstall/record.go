package main

import "fmt"

type recordCommand struct {
	Targets []string `arg:"" name:"target" help:"A process: its PID, its name, the URL of its net/http/pprof, or of a Redis server (redis://host:port)."`
	recording
}

func (c *recordCommand) Run(s *session) error {
	if err := c.check(); err != nil {
		return err
	}
	live, files := s.inputs(c.Targets)
	if len(files) > 0 {
		return fmt.Errorf("%s is a file, not a process; to diagnose it: unstall %s", files[0], files[0])
	}
	if len(live) == 0 {
		return nil
	}
	if path := s.record(c.recording, live, nil, nil); path != "" {
		s.note("saved %s; to diagnose it:\n  unstall %s", path, path)
	}
	return nil
}
