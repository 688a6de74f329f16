package main

import "fmt"

type recordCommand struct {
	Targets []string `arg:"" optional:"" name:"target" help:"A process: its PID, its name, the URL of its net/http/pprof, or of a Redis server (redis://host:port); its container (docker://NAME, podman://NAME, container:ID) or pod (pod/NAME[/CONTAINER]); on another host ssh://[USER@]HOST[:PORT]/TARGET."`
	within
	elsewhere
	recording
}

func (c *recordCommand) Run(s *session) error {
	if err := c.checkFlags(); err != nil {
		return err
	}
	targets, err := c.addContainers(c.Targets, "a process: its PID, name, URL, container or pod", "help record")
	if err != nil {
		return err
	}
	away, targets, err := c.elsewhere.splitRemote(targets)
	if err != nil {
		return err
	}
	live, files := s.splitInputs(targets)
	if len(files) > 0 {
		return fmt.Errorf("%s is a file, not a process; to diagnose it: unstall %s", files[0], files[0])
	}
	var path string
	switch {
	case away != nil && len(live) > 0:
		return away.refuseLocalTarget(targetAsTyped(live[0]))
	case away != nil:
		path = s.recordAway(away, c.recording, besides{}, nil)
	case len(live) > 0:
		path = s.recordTargets(c.recording, live, nil, nil)
	}
	if path != "" {
		s.printNote("saved %s; to diagnose it:\n  unstall %s", path, path)
	}
	return nil
}
