package journey

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// jsonPath is the part of JSONPath (RFC 9535) that names places: $.a.b[0]['c'][-1][*].
type jsonPath struct {
	text  string
	parts []jsonPart
}

type jsonPart struct {
	name  string
	index int
	kind  byte // n name, i index, * all
}

func parsePath(text string) (*jsonPath, error) {
	p := &jsonPath{text: text}
	rest := strings.TrimPrefix(strings.TrimSpace(text), "$")
	if rest != "" && rest[0] != '.' && rest[0] != '[' {
		rest = "." + rest
	}
	for rest != "" {
		if rest[0] == '.' {
			rest = rest[1:]
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			name := rest[:end]
			rest = rest[end:]
			switch name {
			case "":
				return nil, errors.New("a name is missing: give a path such as $.items[0].id")
			case "*":
				p.parts = append(p.parts, jsonPart{kind: '*'})
			default:
				p.parts = append(p.parts, jsonPart{kind: 'n', name: name})
			}
			continue
		}
		if rest[0] != '[' {
			return nil, fmt.Errorf("%q: give a path such as $.items[0].id", rest)
		}
		end := strings.IndexByte(rest, ']')
		if end < 0 {
			return nil, errors.New("a [ without its ]")
		}
		inner := strings.TrimSpace(rest[1:end])
		rest = rest[end+1:]
		switch {
		case inner == "*":
			p.parts = append(p.parts, jsonPart{kind: '*'})
		case len(inner) >= 2 && (inner[0] == '\'' || inner[0] == '"') && inner[len(inner)-1] == inner[0]:
			p.parts = append(p.parts, jsonPart{kind: 'n', name: inner[1 : len(inner)-1]})
		default:
			i, err := strconv.Atoi(inner)
			if err != nil {
				return nil, fmt.Errorf("[%s] is neither a number, nor a name in quotes, nor [*]", inner)
			}
			p.parts = append(p.parts, jsonPart{kind: 'i', index: i})
		}
	}
	return p, nil
}

// findValues returns the values at the path, as text.
func (p *jsonPath) findValues(body []byte) ([]string, error) {
	var v any
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, errors.New("the answer is not JSON")
	}
	at := []any{v}
	for _, part := range p.parts {
		var next []any
		for _, x := range at {
			switch x := x.(type) {
			case map[string]any:
				if y, ok := x[part.name]; ok && part.kind == 'n' {
					next = append(next, y)
				} else if part.kind == '*' {
					for _, name := range slices.Sorted(maps.Keys(x)) {
						next = append(next, x[name])
					}
				}
			case []any:
				i := part.index
				if i < 0 {
					i += len(x)
				}
				if part.kind == 'i' && i >= 0 && i < len(x) {
					next = append(next, x[i])
				} else if part.kind == '*' {
					next = append(next, x...)
				}
			}
		}
		at = next
	}
	var out []string
	for _, x := range at {
		switch x := x.(type) {
		case string:
			out = append(out, x)
		case json.Number:
			out = append(out, x.String())
		case nil:
			out = append(out, "")
		default:
			b, _ := json.Marshal(x)
			out = append(out, string(b))
		}
	}
	return out, nil
}
