package main

import (
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/analyze/platform"
	causes "github.com/unstall/unstall/internal/diagnose/check/all"
	formats "github.com/unstall/unstall/internal/format/all"
)

// repository is the address of files outside the site.
const repository = "https://github.com/unstall/unstall/blob/main/"

// writeSite writes the pages and the configuration of the repository at root.
func writeSite(root, out string) error {
	pages, err := readPages(root)
	if err != nil {
		return err
	}
	more, err := generatePages(root)
	if err != nil {
		return err
	}
	maps.Copy(pages, more)
	pages["index.md"] = pages["start.md"]
	delete(pages, "start.md")
	for name, text := range pages {
		if strings.HasSuffix(name, ".md") {
			pages[name] = strings.ReplaceAll(text, "start.md)", "index.md)")
		}
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	for name, text := range pages {
		if err := writeFile(filepath.Join(out, "docs", name), text); err != nil {
			return err
		}
	}
	return writeFile(filepath.Join(out, "mkdocs.yml"), mkdocsConfig(pages))
}

func writeFile(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

// readPages returns the pages of docs/, without the gallery, whose reports have some megabytes.
func readPages(root string) (map[string]string, error) {
	pages := map[string]string{}
	dir := filepath.Join(root, "docs")
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		in, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		switch in = filepath.ToSlash(in); {
		case e.IsDir() && in == "gallery":
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		pages[in] = string(text)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for name, text := range pages {
		if strings.HasSuffix(name, ".md") {
			pages[name] = linkToRepository(text, name, pages)
		}
	}
	return pages, nil
}

var link = regexp.MustCompile(`\]\(([^)\s#:]+)(#[^)\s]*)?\)`)

// linkToRepository turns links to files outside the site into links to the repository.
func linkToRepository(text, name string, pages map[string]string) string {
	return link.ReplaceAllStringFunc(text, func(m string) string {
		part := link.FindStringSubmatch(m)
		to := path.Join(path.Dir(name), part[1])
		if _, ok := pages[to]; ok {
			return m
		}
		if _, ok := pages[path.Join(to, "README.md")]; ok {
			return "](" + path.Join(part[1], "README.md") + part[2] + ")"
		}
		return "](" + repository + path.Join("docs", to) + part[2] + ")"
	})
}

// generatePages returns the pages that the code makes.
func generatePages(root string) (map[string]string, error) {
	pages := map[string]string{}
	for _, c := range causes.Causes {
		pages["causes/"+c.ID+".md"] = fmt.Sprintf("# %s\n\n**%s.** %s\n\n## Evidence it needs\n\n%s.\n\n## Named from\n\n%s.\n\n[All causes](../causes.md)\n",
			c.ID, upperFirst(c.Title), escapeProse(c.Doc), upperFirst(strings.TrimSuffix(c.Needs, ".")), upperFirst(c.Least))
	}
	for _, r := range platform.All {
		var b strings.Builder
		fmt.Fprintf(&b, "# %s\n\n", r.Title)
		if r.Recognise != nil {
			b.WriteString("```\nunstall PID        # or its name\n```\n\n")
		}
		for _, x := range []struct{ title, text string }{{"What shows its requests", r.Requests}, {"What shows what requests wait for", r.States.What}, {"Settings that are read", r.Settings}, {"Collector", r.Collector}} {
			if x.text != "" {
				fmt.Fprintf(&b, "%s: %s.\n\n", x.title, strings.TrimSuffix(escapeProse(x.text), "."))
			}
		}
		b.WriteString("## Causes\n\n")
		n := 0
		for _, c := range causes.Causes {
			if of, _, _ := strings.Cut(c.ID, "."); of == r.ID {
				fmt.Fprintf(&b, "- [%s](../causes/%s.md): %s\n", c.ID, c.ID, c.Title)
				n++
			}
		}
		if n == 0 {
			b.WriteString("Those of any service and of Linux, in [the list](../causes.md).\n")
		} else {
			b.WriteString("\nAnd those of any service and of Linux, in [the list](../causes.md).\n")
		}
		for _, m := range r.Models {
			fmt.Fprintf(&b, "\nWhat a setting would do is predicted: [predict](../predict.md) (`%s`).\n", m.ID)
		}
		pages["runtimes/"+r.ID+".md"] = b.String()
	}
	for _, f := range formats.Formats {
		text := "# " + f.Name + "\n\n" + upperFirst(f.About) + ".\n"
		about, err := packageComment(filepath.Join(root, "internal/format"), f.Name)
		if err != nil {
			return nil, err
		}
		if about != "" {
			text += "\n" + about
		}
		pages["formats/"+f.Name+".md"] = text + "\n[All formats](../formats.md)\n"
	}
	return pages, nil
}

func upperFirst(s string) string {
	s = escapeProse(s)
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// escapeProse escapes markup in a text.
func escapeProse(s string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`).Replace(strings.TrimSpace(s))
}

// packageComment returns the package comment of a format as Markdown, or "" if its package has
// another name.
func packageComment(dir, name string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, name, "*.go"))
	if err != nil {
		return "", err
	}
	slices.Sort(files)
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return "", err
		}
		if f.Doc != nil {
			p := new(doc.Package)
			return string(p.Markdown(strings.TrimPrefix(f.Doc.Text(), "Package "+f.Name.Name+" "))), nil
		}
	}
	return "", nil
}
