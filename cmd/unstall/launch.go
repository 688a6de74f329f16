package main

import "errors"

type launchCommand struct {
	THP     string   `name:"thp" required:"" enum:"off,advised,host" placeholder:"off|advised|host" help:"Transparent huge pages of the command and its children: off; advised, only where the program requests them (Linux 6.18); host, the host's setting, even if this shell has them switched off."`
	Command []string `arg:"" passthrough:"" name:"command" help:"The command and its arguments, after --."`
}

// Run replaces this process by the command. It returns only on an error.
func (c *launchCommand) Run(s *session) error {
	if len(c.Command) > 0 && c.Command[0] == "--" {
		c.Command = c.Command[1:]
	}
	if len(c.Command) == 0 {
		return errors.New("give a command after --: unstall run --thp=off -- redis-server")
	}
	s.reportError(unreadable, c.execCommand())
	return nil
}
