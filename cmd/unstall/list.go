package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/unstall/unstall/internal/analyze/platform"
	"github.com/unstall/unstall/internal/collect/discover"
	"github.com/unstall/unstall/internal/present/json"
	"github.com/unstall/unstall/internal/present/text"
)

type listCommand struct{ output }

func (c *listCommand) Run(s *session) error {
	form, err := c.chooseForm(false)
	if err != nil {
		return err
	}
	if form.Name != "text" && form.Name != "json" {
		return fmt.Errorf("--format %s: the list is text or json", form.Name)
	}
	found, err := discover.DiscoverAll(context.Background(), platform.Recognisers())
	if err != nil {
		s.reportError(unreadable, err)
		if form.Name == "text" {
			fmt.Fprint(s.out, usage)
		}
		return nil
	}
	s.writeOutput(c.Output, nil, func(w io.Writer) error {
		if form.Name == "json" {
			return json.Encode(w, jsonList(found))
		}
		o := text.For(w)
		if c.Color != "auto" {
			o.Color = c.Color == "always"
		}
		_, err := io.WriteString(w, formatListing(found, o, os.Geteuid() == 0))
		return err
	})
	return nil
}

// list is the JSON form, unstall.list/v1: processes here that can be diagnosed, most CPU use first. Unknown is null.
type list struct {
	Schema    string          `json:"schema"`
	Processes []listedProcess `json:"processes"`
}

type listedProcess struct {
	PID        int        `json:"pid"`
	Name       string     `json:"name"`
	Main       *string    `json:"main"`
	Runtime    string     `json:"runtime"`
	Version    *string    `json:"version"`
	Exe        *string    `json:"exe"`
	UID        int        `json:"uid"`
	User       string     `json:"user"`
	Container  *string    `json:"container"`
	Started    *time.Time `json:"started"`
	CPUCores   float64    `json:"cpu_cores"`
	RSSBytes   int64      `json:"rss_bytes"`
	Listens    []string   `json:"listens"`
	Reads      []string   `json:"reads"`
	Unreadable []string   `json:"unreadable"`
	Needs      *string    `json:"needs"`
	Next       string     `json:"next"`
}

func jsonList(found []discover.Found) list {
	l := list{Schema: "unstall.list/v1", Processes: []listedProcess{}}
	for _, f := range found {
		p := listedProcess{PID: f.PID, Name: f.Name, Main: orNull(f.Main), Runtime: f.Runtime, Version: orNull(f.Version), Exe: orNull(f.Exe),
			UID: f.UID, User: f.User, Container: orNull(f.Container), CPUCores: f.CPU, RSSBytes: f.RSS, Listens: []string{},
			Reads: f.Reads, Unreadable: append([]string{}, f.Unreadable...), Needs: orNull(f.Needs), Next: f.Next}
		if !f.Start.IsZero() {
			start := f.Start.UTC()
			p.Started = &start
		}
		for _, at := range f.Listens {
			p.Listens = append(p.Listens, at.String())
		}
		l.Processes = append(l.Processes, p)
	}
	return l
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
