// Package reporttest checks text for people by the rules for such text (docs/report.md): figures have
// units and at most three digits, plurals are plurals, nothing is empty, and no words are a programmer's.
package reporttest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/unstall/unstall/internal/diagnose"
)

// rule is a pattern that reports must not contain.
type rule struct {
	why    string
	match  *regexp.Regexp
	except *regexp.Regexp // matches that are allowed all the same; nil: none
}

// rules hold for all text.
var rules = []rule{
	{"one of something is no plural", regexp.MustCompile(`(?m)(^|[^\d.,:/\w–−-])(gen |generation |level |step |p)?1 [a-z]{2,}s\b`), regexp.MustCompile(`(gen|generation|level|step) 1 |1 (ms|ns|us|process|class|less|bus|access|is|was|has|this|its|as|always|others|does|redis|alias|across|wants|needs|takes)$`)},
	{"a quantile has a unit", regexp.MustCompile(`\bp(50|90|95|99|99\.9) \d[\d.,]*( ·| \||,? p9|$)`), nil},
	{"s/s is no unit", regexp.MustCompile(`\bs/s\b`), nil},
	{"no figure has more than three digits", regexp.MustCompile(`(^|[\s(–−-])(\d{4,}\.\d+|\d{3}\.\d+|\d{2}\.\d{2,}|[1-9]\.\d{3,}|0\.0*[1-9]\d{3,}) ?(ns|µs|ms|s|min|h|%|KiB|MiB|GiB|B|CPUs?|/s|×)(\W|$)`), regexp.MustCompile(`99\.\d+ ?%`)},
	{"a percentage has two digits", regexp.MustCompile(`(^|[\s(–−-])(\d\d\.\d+|[1-9]\.\d{2,}|0\.0*[1-9]\d{2,}) ?%`), regexp.MustCompile(`99\.\d+ ?%|[−-]9\d\.\d ?%`)}, // but a change that leaves next to nothing
	{"larger units are easier to read", regexp.MustCompile(`(^|[\s(])\d{5,} ?(ns|µs|ms|s|min|h|B|KiB|MiB)(\W|$)`), nil},
	{"this is how a program says that it does not know", regexp.MustCompile(`\bNaN\b|[+-]Inf\b|%!|<nil>|\bmap\[|&\{`), nil},
	{"these are words of Go", regexp.MustCompile(`\bstrconv\.|\bjson: |unexpected EOF|: EOF\b|context deadline exceeded|runtime error|invalid character|no such host`), nil},
	{"a healthy service is healthy, not unjudged", regexp.MustCompile(`none of the causes judged|for none of the causes`), nil},
	{"a figure is missing", regexp.MustCompile(`(^|\s)\(\)|\( |[a-z] ,|: \.(\s|$)|[a-z:] +%(\s|$|\.)| %d\b|–\)|\(–`), nil},
	{"a range from a figure to itself is none", regexp.MustCompile(`\(\d[\d.,]*–\d[\d.,]*\)`), nil},
	{"a figure has a unit", regexp.MustCompile(`(^|[\s(])([\pL.]+ |[≥>]=? ?|p)?\d+\.\d+(,? (in|at|by|with|for|than|when|while|is|are|was|were|from)\b|;|[,.](\s|$))`),
		regexp.MustCompile(`(Go|Java|JDK|\.NET|Redis|kernel|Linux|before|since|from|[≥>]=?) ?\d|p99\.9`)}, // versions
	{"no share is negative", regexp.MustCompile(`(use|used|uses|only|for) -\d`), nil},
}

var same = regexp.MustCompile(`\((\d[\d.,]*)–(\d[\d.,]*)\)`)

// Text returns what is wrong with a text, a line for each.
func Text(text string) (wrong []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, r := range rules {
			for _, m := range r.match.FindAllString(line, -1) {
				if r.except != nil && r.except.MatchString(m) {
					continue
				}
				if x := same.FindStringSubmatch(m); x != nil && x[1] != x[2] {
					continue
				}
				wrong = append(wrong, fmt.Sprintf("%s: %q in %q", r.why, strings.TrimSpace(m), strings.TrimSpace(line)))
			}
		}
	}
	return wrong
}

var (
	label   = regexp.MustCompile(`^(FIX|WHY|REQUESTS|SLOW|LOAD|ROUTES|RULED OUT|NOT SEEN|WARNINGS|THREADS)( \d)?\s*$`)
	heading = regexp.MustCompile(`^#+ `)
)

// Terminal returns what is wrong with a report in text.
func Terminal(text string) (wrong []string) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		if label.MatchString(l) && !strings.HasPrefix(l, "ROUTES") {
			wrong = append(wrong, fmt.Sprintf("a section is empty: %q", l))
		}
		if l == "" && i > 0 && lines[i-1] == "" {
			wrong = append(wrong, fmt.Sprintf("two empty lines before line %d", i+1))
		}
	}
	if strings.Contains(text, "NOTHING WRONG") && strings.Contains(text, "NOT ENOUGH EVIDENCE") {
		wrong = append(wrong, "it is healthy and not judged")
	}
	if strings.Contains(text, "NOTHING WRONG") && strings.Contains(text, "not judged") {
		wrong = append(wrong, "what is healthy is told beside what is not judged")
	}
	if share := slowShare.FindStringSubmatch(text); share != nil && (strings.Contains(text, "NOTHING WRONG") || strings.Contains(text, "Healthy")) {
		if p, err := strconv.ParseFloat(share[1], 64); err == nil && p >= manySlow {
			wrong = append(wrong, "it is healthy with "+share[1]+" % slow requests")
		}
	}
	return append(wrong, Text(text)...)
}

// slowShare is the first percentage in the section of slow requests; manySlow is the one from which a service is not healthy.
var slowShare = regexp.MustCompile(`(?ms)^SLOW {2,}(?:[^\n]|\n {2,})*?(?:· |\n +)(\d[\d.]*) %`)

const manySlow = 25

// Markdown returns what is wrong with a report in Markdown.
func Markdown(text string) (wrong []string) {
	last, fenced := "", false
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n")
		if strings.HasPrefix(l, "```") {
			fenced = !fenced
		}
		if fenced || l == "" {
			continue
		}
		if heading.MatchString(l) && heading.MatchString(last) && strings.HasPrefix(last, "##") {
			wrong = append(wrong, fmt.Sprintf("a section is empty: %q", last))
		}
		last = l
	}
	if heading.MatchString(last) {
		wrong = append(wrong, fmt.Sprintf("a section is empty: %q", last))
	}
	return append(wrong, Text(text)...)
}

var (
	unread = regexp.MustCompile(`(?s)<script.*?</script>|<style.*?</style>|<svg.*?</svg>|<noscript.*?</noscript>|<template.*?</template>`)
	block  = regexp.MustCompile(`(?s)</?(p|div|li|tr|h\d|section|dt|dd|pre|summary|details|table|br|header|footer|nav|main|ul|ol|dl|figure|figcaption|button|label|option)\b[^>]*>`)
	tag    = regexp.MustCompile(`(?s)<[^>]*>`)
	cell   = regexp.MustCompile(`</t[dh]>`)
	calls  = regexp.MustCompile(`<wbr/?>|(<[^>]*>)*\(\)(<[^>]*>)*`) // names of functions
	spaces = regexp.MustCompile(`[ \t]+`)
	joined = regexp.MustCompile(`([(–]) +| +([,.;:)–])`) // what lies in tags of its own
	bare   = regexp.MustCompile(`(?s)<section[^>]*>\s*(<h\d[^>]*>[^<]*</h\d>)?\s*</section>`)
)

// cellEnd separates the cells of a row: a reader does not take figures of different cells for one sentence, as in
// columns of a terminal.
const cellEnd = "\u2003"

// HTML returns what is wrong with the words of a page; it does not look at what its scripts draw.
func HTML(page string) (wrong []string) {
	page = unread.ReplaceAllString(page, "")
	for _, s := range bare.FindAllString(page, -1) {
		wrong = append(wrong, fmt.Sprintf("a section is empty: %q", s))
	}
	page = spaces.ReplaceAllString(calls.ReplaceAllString(page, ""), " ")
	page = cell.ReplaceAllString(page, cellEnd)
	text := spaces.ReplaceAllString(tag.ReplaceAllString(block.ReplaceAllString(page, "\n"), " "), " ")
	text = joined.ReplaceAllString(text, "$1$2")
	return append(wrong, Text(strings.NewReplacer("&#39;", "'", "&#34;", `"`, "&lt;", "<", "&gt;", ">", "&amp;", "&", "&nbsp;", " ").Replace(text))...)
}

// Sentences returns what is wrong with the sentences of a diagnosis that are made of figures: two
// spaces in a row mean that a figure is missing.
func Sentences(d *diagnose.Diagnosis) (wrong []string) {
	say := func(who, s string) {
		switch {
		case strings.Contains(s, "  "):
			wrong = append(wrong, fmt.Sprintf("%s: a word is missing between two spaces: %q", who, s))
		case strings.TrimSpace(s) != s:
			wrong = append(wrong, fmt.Sprintf("%s: a word is missing: %q", who, s))
		}
		for _, w := range Text(s) {
			wrong = append(wrong, who+": "+w)
		}
	}
	for _, v := range d.Verdicts {
		say(v.Cause, v.Title)
		say(v.Cause, v.Summary)
		for _, e := range v.Evidence {
			say(v.Cause, e.Text)
		}
		for _, n := range v.Needs {
			say(v.Cause, n.What)
		}
		for _, f := range v.Fix {
			say(v.Cause, f.Text)
		}
	}
	for _, w := range d.Warnings {
		say("a warning", w.Text)
	}
	for _, n := range d.NotSeen {
		say("what was not seen", n.What+": "+n.Why)
	}
	return wrong
}
