package main

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/base/suggest"
	"github.com/unstall/unstall/internal/diagnose/check/all"
)

type causesCommand struct {
	ID string `arg:"" optional:"" help:"The cause to explain, such as go.gc-rate."`
}

func (c *causesCommand) Run(s *session) error {
	width := 0
	for _, k := range all.Causes {
		width = max(width, len(k.ID))
	}
	if c.ID != "" {
		if err := known(c.ID); err != nil {
			return err
		}
	}
	for _, k := range all.Causes {
		switch {
		case c.ID == "":
			fmt.Fprintf(s.out, "%-*s  %s\n", width, k.ID, k.Title)
		case c.ID == k.ID:
			fmt.Fprintf(s.out, "%s: %s\n\n%s\n\nNeeds %s.\n\nNamed from: %s.\n", k.ID, k.Title, strings.TrimSpace(k.Doc), strings.TrimSuffix(k.Needs, "."), k.Thresholds)
			return nil
		}
	}
	return nil
}

// known says of what is the id of no cause which one is meant.
func known(id string) error {
	var ids, near []string
	for _, k := range all.Causes {
		if k.ID == id {
			return nil
		}
		ids = append(ids, k.ID)
		if strings.Contains(k.ID, id) {
			near = append(near, k.ID)
		}
	}
	if meant := suggest.Nearest(id, ids); meant != "" && len(near) == 0 {
		near = append(near, meant)
	}
	if len(near) > 0 {
		return fmt.Errorf("unknown cause %q: did you mean %s?", id, strings.Join(near, " or "))
	}
	return fmt.Errorf("unknown cause %q: unstall causes lists them", id)
}
