// Package table is the one table that make bench prints: each goal with the peer or the limit it is measured against, the figure, and
// whether it is met.
//
// A benchmark prints its figures as it likes and adds a row for each that has a goal. If the environment names a file
// ([Variable]), [Add] appends the row to it, so that rows of several programs come together; without it Add does nothing.
package table

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// Variable is the environment variable that names the file rows are appended to.
const Variable = "UNSTALL_BENCH_ROWS"

// Row is one figure with a goal.
type Row struct {
	Work string `json:"work"` // what was measured: "GC log, G1 unified: speed"
	Peer string `json:"peer"` // the program it is compared with; "limit" if it is none
	Got  string `json:"got"`
	Goal string `json:"goal"` // "≥ 3 ×"
	Met  bool   `json:"met"`
	Why  string `json:"why,omitempty"` // nothing was measured, and why
}

// Limit is the peer of figures that are compared with no program.
const Limit = "limit"

// Add appends a row to the file that the environment names. Without one it does nothing.
func Add(r Row) {
	name := os.Getenv(Variable)
	if name == "" {
		return
	}
	line, err := json.Marshal(r)
	if err == nil {
		err = appendLine(name, line)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dev/bench/table:", err)
	}
}

func appendLine(name string, line []byte) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// Read returns the rows of a file that Add wrote; none if there is no file.
func Read(name string) (rows []Row, err error) {
	f, err := os.Open(name)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for d := json.NewDecoder(f); ; {
		var r Row
		if err := d.Decode(&r); err == io.EOF {
			return rows, nil
		} else if err != nil {
			return rows, fmt.Errorf("%s: %w", name, err)
		}
		rows = append(rows, r)
	}
}

// Print prints rows as aligned columns, and how many goals are met.
func Print(w io.Writer, rows []Row) {
	lines := [][]string{{"work", "peer or limit", "measured", "goal", "met"}}
	met, unmeasured := 0, 0
	for _, r := range rows {
		said := "MISSED"
		switch {
		case r.Why != "":
			said, unmeasured = "not measured: "+r.Why, unmeasured+1
		case r.Met:
			said, met = "yes", met+1
		}
		lines = append(lines, []string{r.Work, r.Peer, r.Got, r.Goal, said})
	}
	width := make([]int, len(lines[0]))
	for _, cells := range lines {
		for i, c := range cells {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for _, cells := range lines {
		var line strings.Builder
		for i, c := range cells {
			line.WriteString(c)
			line.WriteString(strings.Repeat(" ", width[i]-utf8.RuneCountInString(c)+2))
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
	fmt.Fprintf(w, "%d of %d goals are met, %d were not measured\n", met, len(rows), unmeasured)
}

// ReplacePart returns a document with a new text in one of its parts, which are between <!-- measured: NAME --> and
// <!-- end -->; ok is false without such a part.
func ReplacePart(document, part, text string) (now string, ok bool) {
	mark := "<!-- measured: " + part + " -->\n"
	before, rest, begins := strings.Cut(document, mark)
	_, after, ends := strings.Cut(rest, "<!-- end -->")
	if !begins || !ends {
		return document, false
	}
	return before + mark + "```text\n" + strings.TrimRight(text, "\n") + "\n```\n<!-- end -->" + after, true
}
