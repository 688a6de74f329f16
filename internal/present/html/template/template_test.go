package template

import (
	"html/template"
	"strings"
	"testing"
	"testing/fstest"
)

type page struct {
	Title, Link string
	Rows        []row
	Row         *row
	Raw         HTML
	Style       CSS
	Data        JS
	Any         any
	N           int
}

type row struct {
	Name  string
	Cells []string
	On    bool
}

func set(text string) (*Set, error) {
	return ParseFS(fstest.MapFS{"a.tmpl": {Data: []byte(text)}}, "*.tmpl", FuncMap{"twice": func(s string) HTML { return HTML("<b>" + HTMLEscapeString(s+s) + "</b>") }})
}

const everything = `{{define "page"}}<!DOCTYPE html>
<h1 id="x-{{.N}}"{{if .Row}} class="{{if .Row.On}}on{{else}}{{.Title}}{{end}}"{{end}}>{{.Title}}</h1>
<style>{{.Style}}</style><script type="application/json">{{.Data}}</script>
<a href="{{.Link}}">a</a> <a href="#{{.Title}}">b</a> <a href="/x/{{.Title}}?q={{.Title}}&amp;z={{.N}}">c</a>
{{- $n := .N}}{{$all := .Rows}}
{{range $i, $r := .Rows}}{{if $i}}, {{end}}{{$r.Name}}{{range .Cells}} [{{.}}]{{else}} none{{end}}{{if eq $i $n}}!{{end}}{{if and $i (lt $i 2)}}~{{end}}{{(index $all $i).Name}}{{end}}
{{with .Row}}{{.Name}} of {{$.Title}}{{end}}{{with .Any}}never{{else}}nothing{{end}}{{if or .Any .Title}} or{{end}}{{if not .Any}} not{{end}}
{{.Raw}} {{twice .Title}} {{len .Rows}} {{printf "%s-%d" .Title .N | twice}} {{template "sub" .Rows}}
{{end}}{{define "sub"}}{{range .}}{{.Name}};{{end}}{{end}}`

var nasty = page{
	Title: `<a> "b" 'c' & d+e` + "\x00", Link: "/list?q=1", N: 1, Raw: "<i>", Style: "a > b {}", Data: `{"a":"\u003c"}`,
	Rows: []row{{Name: "<1>", Cells: []string{"x&y"}}, {Name: "2"}, {Name: "3", On: true}}, Row: &row{Name: "r", On: true},
}

// TestSame holds it against the library whose language it is.
func TestSame(t *testing.T) {
	s, err := set(everything)
	if err != nil {
		t.Fatal(err)
	}
	theirs := template.Must(template.New("").Funcs(template.FuncMap{"twice": func(s string) template.HTML {
		return template.HTML("<b>" + template.HTMLEscapeString(s+s) + "</b>")
	}}).Parse(everything))
	type same struct {
		page
		Raw   template.HTML
		Style template.CSS
		Data  template.JS
	}
	for _, p := range []page{nasty, {}, {Title: "plain", Rows: nasty.Rows[:1]}} {
		var ours, other strings.Builder
		if err := s.Execute(&ours, "page", p); err != nil {
			t.Fatal(err)
		}
		if err := theirs.ExecuteTemplate(&other, "page", same{p, template.HTML(p.Raw), template.CSS(p.Style), template.JS(p.Data)}); err != nil {
			t.Fatal(err)
		}
		if a, b := alike(ours.String()), alike(other.String()); a != b {
			t.Errorf("ours\n%s\ntheirs\n%s", a, b)
		}
	}
}

// alike takes away where the library is laxer or stricter without need: the case of escapes, a slash
// or a quotation mark in the path.
func alike(s string) string {
	for _, x := range [][2]string{{"%3C", "%3c"}, {"%3E", "%3e"}, {"%2B", "%2b"}, {"%EF%BF%BD", "%ef%bf%bd"}, {"&amp;z", "&z"}} {
		s = strings.ReplaceAll(s, x[0], x[1])
	}
	return s
}

// TestAddress lets nothing leave its part of an address, and no script into one.
func TestAddress(t *testing.T) {
	s, err := set(`{{define "page"}}<a href="{{.Link}}">a</a><a href="/x/{{.Link}}">b</a><a href="/?q={{.Link}}">c</a>{{end}}`)
	if err != nil {
		t.Fatal(err)
	}
	for link, want := range map[string]string{
		"javascript:alert(1)":     `<a href="#refused">a</a><a href="/x/javascript:alert%281%29">b</a><a href="/?q=javascript%3Aalert%281%29">c</a>`,
		` javascript:alert(1)`:    `<a href="#refused">a</a><a href="/x/%20javascript:alert%281%29">b</a><a href="/?q=%20javascript%3Aalert%281%29">c</a>`,
		"a?b#c&d":                 `<a href="a?b#c&amp;d">a</a><a href="/x/a%3Fb%23c&amp;d">b</a><a href="/?q=a%3Fb%23c%26d">c</a>`,
		`"><script>`:              `<a href="%22%3E%3Cscript%3E">a</a><a href="/x/%22%3E%3Cscript%3E">b</a><a href="/?q=%22%3E%3Cscript%3E">c</a>`,
		"https://a.b/c":           `<a href="https://a.b/c">a</a><a href="/x/https:/a.b/c">b</a><a href="/?q=https%3A%2F%2Fa.b%2Fc">c</a>`,
		"data:text/html,<script>": `<a href="#refused">a</a><a href="/x/data:text/html%2C%3Cscript%3E">b</a><a href="/?q=data%3Atext%2Fhtml%2C%3Cscript%3E">c</a>`,
	} {
		var b strings.Builder
		if err := s.Execute(&b, "page", page{Link: link}); err != nil || strings.ReplaceAll(b.String(), "https://a.b/c\">b", "https:/a.b/c\">b") != want {
			t.Errorf("%s\n got  %s\n want %s %v", link, b.String(), want, err)
		}
	}
}

// TestRefused are templates that could not be escaped, and data that does not fit.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		`<a onclick="{{.Title}}">`: "stands in onclick",
		`<a style="x:{{.Title}}">`: "stands in style",
		`<a {{.Title}}>`:           "makes an attribute",
		`<a href={{.Title}}>`:      "has no quotes",
		`{{if .N}}<a {{end}}`:      "different places",
		`<a `:                      "inside a tag",
		`<a title="{{template "sub"}}">{{define "sub"}}{{end}}`: "stands inside a tag",
		`{{template "none"}}`: "no template none",
	} {
		if _, err := set(`{{define "page"}}` + strings.Replace(text, `{{define "sub"}}{{end}}`, "", 1) + `{{end}}{{define "sub"}}{{end}}`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		`{{.None}}`: "no field None", `<script>{{.Title}}</script>`: "must be meant for it", `<style>{{.Raw}}</style>`: "must be meant for it", `{{range .N}}{{end}}`: "is no list",
		`{{twice .N}}`: "value 1 is a int", `{{twice}}`: "0 values", `{{.Title.Deep}}`: "no Deep of string",
	} {
		s, err := set(`{{define "page"}}` + text + `{{end}}`)
		if err == nil {
			err = s.Execute(new(strings.Builder), "page", nasty)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
