package main

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/cause/all"
)

type causesCommand struct {
	ID string `arg:"" optional:"" help:"The cause to explain, such as go.gc-rate."`
}

func (c *causesCommand) Run(s *session) error {
	width := 0
	for _, k := range all.Causes {
		width = max(width, len(k.ID))
	}
	var near []string
	for _, k := range all.Causes {
		switch {
		case c.ID == "":
			fmt.Fprintf(s.out, "%-*s  %s\n", width, k.ID, k.Title)
		case c.ID == k.ID:
			fmt.Fprintf(s.out, "%s: %s\n\n%s\n\nNeeds %s.\n\nNamed from: %s.\n", k.ID, k.Title, strings.TrimSpace(k.Doc), strings.TrimSuffix(k.Needs, "."), k.Least)
			return nil
		case strings.Contains(k.ID, c.ID):
			near = append(near, k.ID)
		}
	}
	switch {
	case c.ID == "":
		return nil
	case len(near) > 0:
		return fmt.Errorf("there is no cause %q: did you mean %s?", c.ID, strings.Join(near, " or "))
	}
	return fmt.Errorf("there is no cause %q: unstall causes lists them", c.ID)
}
