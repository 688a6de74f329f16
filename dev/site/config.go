package main

import (
	"fmt"
	"slices"
	"strings"
)

// chapters group the pages of docs/ by what readers want; the last chapter has the others.
var chapters = []struct {
	title string
	pages []string
}{
	{"Install", []string{"install.md", "commands.md", "remote.md", "containers.md"}},
	{"Diagnose", []string{"report.md", "recording.md", "elimination.md", "host.md", "redis.md", "jvm.md", "gclogs.md"}},
	{"Fix and verify", []string{"compare.md", "predict.md", "try.md", "load.md", "incidents.md"}},
	{"Keep watch", []string{"watch.md", "fleet.md", "top.md"}},
	{"Show and share", []string{"serve.md", "mcp.md", "export.md", "json.md"}},
	{"How far to trust it", []string{"accuracy.md", "policy.md", "thresholds.md", "limits.md", "figures.md"}},
}

// mkdocsConfig returns mkdocs.yml. No font or script comes from elsewhere; the plugin offline lets
// search work from a disk.
func mkdocsConfig(pages map[string]string) string {
	var b strings.Builder
	b.WriteString(`site_name: unstall
site_description: finds which mechanism in a runtime or the kernel makes requests slow
docs_dir: docs
site_dir: site
use_directory_urls: false
theme:
  name: material
  font: false
  features: [navigation.indexes, navigation.top, search.highlight, content.code.copy, toc.follow]
  palette:
  - {media: "(prefers-color-scheme: light)", scheme: default, toggle: {icon: material/weather-night, name: dark}}
  - {media: "(prefers-color-scheme: dark)", scheme: slate, toggle: {icon: material/weather-sunny, name: light}}
extra: {generator: false}
plugins: [search, offline]
markdown_extensions: [tables, fenced_code, {toc: {permalink: true}}]
validation:
  nav: {omitted_files: ignore}
  links: {not_found: warn, anchors: warn}
nav:
- My service is slow: index.md
`)
	named := map[string]bool{"index.md": true, "causes.md": true, "formats.md": true}
	for _, c := range chapters {
		fmt.Fprintf(&b, "- %s:\n", c.title)
		for _, name := range c.pages {
			named[name] = true
			if _, ok := pages[name]; ok {
				fmt.Fprintf(&b, "  - %s\n", name)
			}
		}
	}
	folder := func(title, index, dir string) {
		fmt.Fprintf(&b, "- %s:\n", title)
		if index != "" {
			fmt.Fprintf(&b, "  - %s\n", index)
		}
		for _, name := range sortedNames(pages) {
			if strings.HasPrefix(name, dir+"/") && strings.HasSuffix(name, ".md") {
				named[name] = true
				fmt.Fprintf(&b, "  - %s\n", name)
			}
		}
	}
	folder("Runtimes", "", "runtimes")
	folder("Causes", "causes.md", "causes")
	folder("Formats", "formats.md", "formats")
	b.WriteString("- More:\n")
	for _, name := range sortedNames(pages) {
		if strings.HasSuffix(name, ".md") && !named[name] {
			fmt.Fprintf(&b, "  - %s\n", name)
		}
	}
	return b.String()
}

func sortedNames(pages map[string]string) (all []string) {
	for name := range pages {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
