package html

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/timeline"
	"github.com/unstall/unstall/internal/operate/compare"
	"github.com/unstall/unstall/internal/present/html/app"
	"github.com/unstall/unstall/internal/present/sentence"
)

// Page is a document of parts, in the order they are shown.
type Page struct {
	Title   string
	Strip   []string // what heads the page above all parts, "" nothing
	Version string   // of the tool
	Repeat  []string // commands that make the page again
	Home    string   // address of the list it was opened from, "" none
	Parts   []Part
}

// Part is a diagnosis, a comparison, a prediction or tables.
type Part interface{ addTo(*document) error }

// Diagnosed is a diagnosis. The one without a title is the page's own, and heads
// it; any other gets a chapter.
type Diagnosed struct {
	Title     string
	Diagnosis *diagnose.Diagnosis
	After     []Link // other parts of the page, for the list of its contents
}

// Link is a place in the page.
type Link struct{ ID, Title string }

// Compared is a comparison. Before and After are the diagnoses of its sides, nil
// if they are not known; their answers are shown side by side.
type Compared struct {
	ID, Title     string // "": numbered, and named after the sides
	Comparison    *compare.Comparison
	Before, After *diagnose.Diagnosis
	Lead          bool // it heads the page
}

// Table is rows of cells below a title.
type Table struct {
	ID, Title string
	How       string // how to read it, "" nothing
	Columns   []Column
	Head      int // the column that names the row
	Rows      [][]Cell
}

// Column is one of a table.
type Column struct {
	Name   string
	Number bool // it is set flush right
}

// Cell is a text in a table.
type Cell struct {
	Text  string
	Class string // "good", "bad", "muted", "strong", ""
	Code  bool
}

// Tables is a part made of tables.
type Tables []Table

// document is what the templates show.
type document struct {
	Title, Version     string
	Policy, Home       string
	Forms              bool // it has forms, which post to the server of the page
	Refresh            int  // seconds
	Style, AppStyle    template.CSS
	Script, AppScript  template.JS
	Strip, Repeat      []string
	Machine            string         // the command whose JSON says the same, "" none
	Head               *diagnosisView // the diagnosis that the page is about, nil: several
	Parts              []partView
	Data               []data
	diagnoses, compare int
}

type partView struct {
	Diagnosis  *diagnosisView
	Comparison *comparisonView
	Prediction *predictedView
	Tables     []Table
	Contents   []Link
	Shelf      *Shelf
	Notice     *Notice
}

// data is a timeline for the scripts.
type data struct {
	N    int
	JSON template.JS
}

// Write renders the page.
func (p Page) Write(w io.Writer) error {
	d := &document{Title: p.Title + " · unstall", Version: p.Version, Strip: p.Strip, Repeat: p.Repeat, Home: p.Home}
	d.Machine = jsonCommand(p.Repeat)
	for _, part := range p.Parts {
		if err := part.addTo(d); err != nil {
			return err
		}
	}
	d.Style, d.Script = template.CSS(style()), template.JS(script())
	if len(d.Data) > 0 {
		d.AppStyle, d.AppScript = template.CSS(replaceInvisible(app.Style())), template.JS(replaceInvisible(app.Script()))
	}
	for _, s := range []string{string(d.Script), string(d.AppScript), string(d.Style), string(d.AppStyle)} {
		if endsElement(s) {
			return errors.New("html report: a script or style of the page would end itself")
		}
	}
	d.Policy = contentPolicy(d.Forms, string(d.Style), string(d.AppStyle), string(d.Script), string(d.AppScript))
	out := bufio.NewWriterSize(w, 1<<16)
	if err := pages().ExecuteTemplate(printable{out}, "page", d); err != nil {
		return fmt.Errorf("html report: %w", err)
	}
	return out.Flush()
}

// jsonCommand returns the first command with JSON as its output in place of a page.
func jsonCommand(repeat []string) string {
	if len(repeat) == 0 {
		return ""
	}
	return output.ReplaceAllString(repeat[0], "") + " --format json"
}

// output matches the flags that say what a command writes and where.
var output = regexp.MustCompile(` (?:-o|--output|--format)[ =]\S+`)

// endsElement says whether a text holds the end of the script or style element it is put in.
func endsElement(s string) bool {
	s = strings.ToLower(s)
	return strings.Contains(s, "</script") || strings.Contains(s, "</style") || strings.Contains(s, "<!--")
}

// contentPolicy returns the Content-Security-Policy that allows the page's own styles and scripts,
// forms to its own server if it has any, and nothing else.
func contentPolicy(forms bool, style, appStyle, script, appScript string) string {
	sources := func(texts ...string) (s string) {
		for _, t := range texts {
			if t != "" {
				sum := sha256.Sum256([]byte(t))
				s += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
			}
		}
		return s
	}
	action := "'none'"
	if forms {
		action = "'self'"
	}
	return "default-src 'none'; img-src data:; base-uri 'none'; form-action " + action + "; style-src" + sources(style, appStyle) + "; script-src" + sources(script, appScript)
}

// addTimeline adds a timeline to the data of the page, unless it is nil.
func (d *document) addTimeline(n int, t *timeline.Timeline) error {
	if t == nil {
		return nil
	}
	payload, err := app.Payload(t)
	if err != nil {
		return fmt.Errorf("html report: %w", err)
	}
	// JSON reads the escaped form as the same text, and it cannot end the element.
	payload = bytes.ReplaceAll(payload, []byte("<"), []byte(`\u003c`))
	d.Data = append(d.Data, data{n, template.JS(payload)})
	return nil
}

// shortAnswer returns the first cause, or that there is none, in a few words and in a sentence.
func shortAnswer(d *diagnose.Diagnosis) (label, text string) {
	supported, open, ruledOut := sentence.Split(d)
	if len(supported) == 0 {
		return sentence.State(d), sentence.Nothing(d, open, ruledOut)
	}
	text = sentence.Title(d, &supported[0])
	if cost := sentence.Cost(d, &supported[0]); cost != "" {
		text += " " + cost
	}
	return supported[0].Cause, text
}

//go:embed page
var files embed.FS

// Templates, styles and scripts are prepared for the first page: most runs of the program make none.
var (
	pages = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("").Funcs(template.FuncMap{"heading": renderHeading, "headline": renderHeadline, "subheading": renderSubheading, "prose": renderProse, "command": renderCommand, "copied": sentence.IsCommand, "capital": sentence.Capital, "pasted": isCopyable, "function": renderFunction, "two": hasFixAndEffect, "ranged": hasRange, "decided": newDecidedView, "choice": hasSelectableRoute, "when": formatStart, "long": formatRecordedTime, "address": url.PathEscape}).ParseFS(files, "page/*.tmpl"))
	})
	style = sync.OnceValue(func() string {
		return replaceInvisible(themeColours(readPageFile("colours.css")) + readPageFile("page.css"))
	})
	script = sync.OnceValue(func() string { return replaceInvisible(readPageFile("page.js")) })
)

func readPageFile(name string) string {
	b, err := files.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(b)
}

// themeColours returns the rules of both themes from the two lists of colours: the system's
// choice, unless the reader chose another; paper is light.
func themeColours(css string) string {
	light, dark, _ := strings.Cut(css, "/*dark*/")
	only := func(s, selector string) string { return strings.Replace(s, ":root {", selector+" {", 1) }
	return light +
		"@media (prefers-color-scheme: dark) {\n" + only(dark, ":root:not([data-theme=\"light\"])") + "}\n" +
		only(dark, ":root[data-theme=\"dark\"]") +
		"@media print {\n" + only(light[strings.Index(light, ":root {"):], ":root, :root[data-theme], :root:not([data-theme=\"light\"])") + "}\n"
}

// renderHeading renders a heading of a level; the section of an id is named by it.
func renderHeading(level int, text, of string) template.HTML {
	return template.HTML(fmt.Sprintf(`<h%d id="%s-title">%s</h%d>`, level, template.HTMLEscapeString(of), template.HTMLEscapeString(text), level))
}

// renderSubheading renders a heading that looks smaller than its level, inside a section.
func renderSubheading(level int, text string) template.HTML {
	return template.HTML(fmt.Sprintf(`<h%d class="sub">%s</h%d>`, level, template.HTMLEscapeString(text), level))
}

// renderHeadline renders the answer: a sentence and, below it, what that costs.
func renderHeadline(level int, text, cost string) template.HTML {
	s, class := template.HTML(longNames().ReplaceAllStringFunc(string(renderProse(text)), func(name string) string { return breakable().ReplaceAllString(name, "$1.<wbr>$2") })), "headline"
	if utf8.RuneCountInString(text) > longHeadline {
		class += " long"
	}
	if cost != "" {
		size := "cost"
		if utf8.RuneCountInString(cost) > longCost {
			size += " small"
		}
		s += template.HTML(` <span class="` + size + `">` + string(renderProse(cost)) + "</span>")
	}
	return template.HTML(fmt.Sprintf(`<h%d class="%s">%s</h%d>`, level, class, s, level))
}

// longNames matches names that may not fit a line of a headline on a phone.
var longNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\pL\pN_.$!]{25,}`) })

// breakable matches dotted names, which may break after a point.
var breakable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(\pL{3,})\.(\pL{3,})`)
})

// longHeadline and longCost are the lengths in characters from which a headline, and what follows it, are set smaller.
const longHeadline, longCost = 110, 200

// together matches text that is not broken across lines: a figure with its unit, a flag.
var together = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[−+<~≥≤]?[0-9][0-9.,–−]* (?:ns|µs|ms|s|min|h|days|B|KiB|MiB|GiB|TiB|%|/s|[KMG]iB/s|CPUs?)(?:[^\pL\pN]|$)|(?:^|\s)-[-\w:+=./]{1,30}`)
})

// renderProse renders a text that does not break between a figure and its unit, or inside a flag.
func renderProse(text string) template.HTML {
	var b strings.Builder
	last := 0
	for _, at := range together().FindAllStringIndex(text, -1) {
		b.WriteString(template.HTMLEscapeString(text[last:at[0]]))
		piece := text[at[0]:at[1]]
		lead := piece[:len(piece)-len(strings.TrimLeft(piece, " \t\n"))]
		b.WriteString(lead + `<span class="n">` + template.HTMLEscapeString(piece[len(lead):]) + "</span>")
		last = at[1]
	}
	b.WriteString(template.HTMLEscapeString(text[last:]))
	return template.HTML(b.String())
}

// renderCommand renders a command to be copied, which breaks between its words only.
func renderCommand(text string) template.HTML {
	words := strings.Split(text, " ")
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		w = template.HTMLEscapeString(w)
		if len(w) > 0 && len(w) <= longestWord {
			w = `<span class="n">` + w + "</span>"
		}
		b.WriteString(w)
	}
	return template.HTML(b.String())
}

// isCopyable says whether a fix's code is to be copied: lines of a program, or a command with
// options. A name, such as that of a lock, only says where to look.
func isCopyable(code string) bool {
	return strings.Contains(code, "\n") || strings.Contains(code, " -")
}

// longestWord is how many characters of a command fit on a telephone's line.
const longestWord = 36

// printable removes invisible characters that change how other text looks: control
// characters, and those that turn the direction of writing. Logs may hold both.
// Templates write whole texts, so a rune is never split between two writes.
type printable struct{ w io.Writer }

func (p printable) Write(b []byte) (int, error) {
	if _, err := io.WriteString(p.w, replaceInvisible(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// replaceInvisible replaces characters that are invisible or change the direction of writing.
func replaceInvisible(s string) string {
	for _, r := range s {
		if isInvisible(r) {
			return strings.Map(func(r rune) rune {
				if isInvisible(r) {
					return unicode.ReplacementChar
				}
				return r
			}, s)
		}
	}
	return s
}

func isInvisible(r rune) bool {
	return r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}
