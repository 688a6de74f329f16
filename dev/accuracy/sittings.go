package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// A run of everything takes hours, so that it may be made in sittings: a file has a line of JSON for each [Case] that was judged. A later
// sitting leaves out what the file has, and its page is of both.

// readSittings returns the cases of a file, none if it does not exist yet.
func readSittings(name string) (cases []Case, err error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		var c Case
		if err := json.Unmarshal(line, &c); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// addToSittings appends a case to a file, unless its service could not be run: then the next sitting tries again.
func addToSittings(name string, c Case) error {
	if c.Error != "" {
		return nil
	}
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// findCase returns the place of a service's case in one run, -1 if there is none.
func findCase(cases []Case, service string, run int) int {
	return slices.IndexFunc(cases, func(c Case) bool { return c.Service == service && c.Run == run })
}

// joinSittings returns the cases of earlier sittings with those of now; a service that was judged in both has the judgement of now.
func joinSittings(earlier, now []Case) []Case {
	out := slices.Clone(earlier)
	for _, c := range now {
		if i := findCase(out, c.Service, c.Run); i >= 0 {
			c.Date = cmp.Or(c.Date, out[i].Date)
			out[i] = c
		} else {
			out = append(out, c)
		}
	}
	return out
}

// sittingDays returns the first and the last day of a run in sittings, "" where it was made in one.
func sittingDays(cases []Case) (first, last string) {
	for _, c := range cases {
		if c.Date != "" {
			first, last = min(cmp.Or(first, c.Date), c.Date), max(last, c.Date)
		}
	}
	return first, last
}
