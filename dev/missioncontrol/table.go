package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/diagnose"
)

// formatTable returns a row for each rule that fires: on which recordings, what unstall says of
// them, and why that differs.
func formatTable(fired []firing, said map[string]*diagnose.Diagnosis) (string, error) {
	type row struct {
		name           string
		warns, informs []string
		files          []string
	}
	rows := make(map[string]*row)
	for _, f := range fired {
		r := rows[f.rule]
		if r == nil {
			r = &row{name: f.name}
			rows[f.rule] = r
		}
		if r.files = append(r.files, f.file); f.severity == "WARNING" {
			r.warns = append(r.warns, shortName(f.file))
		} else {
			r.informs = append(r.informs, shortName(f.file))
		}
	}
	var b strings.Builder
	b.WriteString("| rule | warns of | informs of | unstall of these | why |\n|---|---|---|---|---|\n")
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		a, known := answers[id]
		if !known {
			return "", fmt.Errorf("the rule %s (%s) fires on %v: look why unstall says something else, and add it to why.go", id, rows[id].name, rows[id].files)
		}
		r := rows[id]
		fmt.Fprintf(&b, "| %s (%s) | %s | %s | %s | %s |\n", r.name, id, strings.Join(r.warns, ", "), strings.Join(r.informs, ", "),
			cmp.Or(formatVerdicts(a.causes, r.files, said), "no cause asks this"), a.why)
	}
	return b.String(), nil
}

// shortName returns a recording's short name, such as "jdk17" or "jvm.full-gc/sick-flight".
func shortName(file string) string {
	if dir, ok := strings.CutPrefix(filepath.Dir(file), "internal/diagnose/check/testdata/"); ok {
		return dir
	}
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	return name
}

// formatVerdicts returns the verdicts about some causes, with the recordings of which each holds.
func formatVerdicts(causes, files []string, said map[string]*diagnose.Diagnosis) string {
	var all []string
	for _, id := range causes {
		of := make(map[string][]string)
		for _, name := range files {
			state := "not asked"
			for _, v := range said[name].Verdicts {
				if v.Cause == id {
					state = strings.ReplaceAll(v.Verdict, "_", " ")
				}
			}
			of[state] = append(of[state], shortName(name))
		}
		var states []string
		for _, state := range slices.Sorted(maps.Keys(of)) {
			if len(of) == 1 {
				states = append(states, state)
			} else {
				states = append(states, state+" ("+strings.Join(of[state], ", ")+")")
			}
		}
		all = append(all, "`"+id+"`: "+strings.Join(states, ", "))
	}
	return strings.Join(all, "; ")
}

// replaceTable puts the table into a document.
func replaceTable(page, text string) error {
	const begin, end = "<!-- measured: rules -->\n", "<!-- end -->"
	document, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(document), begin)
	_, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		return fmt.Errorf("%s has no place for the table, %s and %s", page, strings.TrimSpace(begin), end)
	}
	return os.WriteFile(page, []byte(before+begin+text+end+after), 0o644)
}
