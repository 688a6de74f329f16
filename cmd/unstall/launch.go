package main

import "errors"

type launchCommand struct {
	THP     string   `name:"thp" required:"" enum:"off,advised,host" help:"Transparent huge pages of the command and of what it starts: off; advised, only where the program asks for them (Linux 6.18); host, as the host has them, even if they were switched off for this shell."`
	Command []string `arg:"" passthrough:"" name:"command" help:"The command and its arguments, behind --."`
}

// Run becomes the command; it returns only where that cannot be done.
func (c *launchCommand) Run(s *session) error {
	if len(c.Command) > 0 && c.Command[0] == "--" {
		c.Command = c.Command[1:]
	}
	if len(c.Command) == 0 {
		return errors.New("give a command behind --: unstall run --thp=off -- redis-server")
	}
	s.fail(unreadable, c.launch())
	return nil
}
