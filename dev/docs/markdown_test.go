package docs

import (
	"fmt"
	"slices"
	"strings"
)

const (
	begin = "<!-- generated: "
	end   = "<!-- end -->"
)

// fill returns a document with new tables.
func fill(text string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, begin)
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, rest, named := strings.Cut(rest, " -->\n")
		_, rest, ended := strings.Cut(rest, end)
		if !named || !ended {
			return "", fmt.Errorf("%s%.30s…: it has no end", begin, name)
		}
		make := tables[name]
		if make == nil {
			return "", fmt.Errorf("%s%s: there is no such table", begin, name)
		}
		out.WriteString(begin + name + " -->\n" + make() + end)
		text = rest
	}
}

// table is a table in Markdown.
type table struct{ strings.Builder }

func newTable(columns ...string) *table {
	t := new(table)
	t.WriteString("| " + strings.Join(columns, " | ") + " |\n|" + strings.Repeat("---|", len(columns)) + "\n")
	return t
}

// row adds a row and escapes its text.
func (t *table) row(cells ...string) {
	for i, c := range cells {
		cells[i] = plain(c)
	}
	t.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// plain escapes the signs of Markdown outside code.
func plain(text string) string {
	parts := strings.Split(text, "`")
	for i := range parts {
		if i%2 == 0 {
			parts[i] = strings.NewReplacer("*", `\*`, "<", "&lt;").Replace(parts[i])
		}
	}
	return strings.ReplaceAll(strings.Join(parts, "`"), "|", `\|`)
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

func codes(texts []string) string {
	var all []string
	for _, text := range texts {
		if text != "" {
			all = append(all, code(text))
		}
	}
	return strings.Join(all, ", ")
}

func sorted(texts []string) string {
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}
