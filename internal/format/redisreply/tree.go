package redisreply

import (
	"strconv"
	"strings"
)

// node is a value of an answer.
type node struct {
	kind  valueKind
	text  string
	whole int64 // of an integer
	items []*node
}

type valueKind uint8

const (
	absent valueKind = iota
	integer
	text
	list
	failed
)

// tree reads an answer as redis-cli prints it on a terminal:
//
//  1. 1) (integer) 14
//  2. (integer) 1309448221
//  3. 1) "KEYS"
//
// The column of the bracket behind a value's number shows its depth: numbers of one list end in one
// column.
type tree struct {
	root  *node
	open  []depth
	nodes int
	over  int64
	done  bool // it is one value, which is complete
}

type depth struct {
	column int
	of     *node
	last   int // number of its newest item
}

// parseLine reads a line, and says whether it belongs to the answer.
func (t *tree) parseLine(s string, _ int64) bool {
	if t.done {
		return false
	}
	if strings.TrimSpace(s) == "" {
		return t.root != nil && len(t.open) > 0 // an answer ends with its list
	}
	at, first := 0, true
	var item *node
	for {
		number, column, next, ok := parseIndex(s, at)
		if !ok {
			break
		}
		if first {
			for len(t.open) > 0 && t.open[len(t.open)-1].column > column {
				t.open = t.open[:len(t.open)-1]
			}
		}
		n := len(t.open)
		if !first || n == 0 || t.open[n-1].column != column {
			if n > 0 && t.open[n-1].column > column || number != 1 || t.root != nil && item == nil {
				return false
			}
			of := &node{kind: list}
			if t.root == nil {
				t.root = of
			} else {
				*item = *of
				of = item
			}
			t.open = append(t.open, depth{column: column, of: of})
			n++
		}
		top := &t.open[n-1]
		if number != top.last+1 {
			return false // another answer begins
		}
		top.last = number
		item = &node{}
		if t.nodes++; t.nodes <= mostNodes {
			top.of.items = append(top.of.items, item)
		} else {
			t.over++
		}
		at, first = next, false
	}
	if item == nil {
		if t.root != nil {
			return false
		}
		t.root, t.done = &node{}, true
		item = t.root
	}
	return item.parseValue(strings.TrimSpace(s[at:]))
}

// parseIndex reads " 12) " from a position on: the number, and the column of the bracket.
func parseIndex(s string, at int) (number, column, next int, ok bool) {
	i := at
	for i < len(s) && s[i] == ' ' {
		i++
	}
	from := i
	for i < len(s) && s[i] >= '0' && s[i] <= '9' && i-from < 9 {
		i++
	}
	if i == from || i+1 >= len(s) || s[i] != ')' || s[i+1] != ' ' {
		return 0, 0, 0, false
	}
	number, _ = strconv.Atoi(s[from:i])
	return number, i, i + 2, true
}

// parseValue reads `"text"`, "(integer) 14", "(nil)" and similar.
func (n *node) parseValue(s string) bool {
	switch {
	case strings.HasPrefix(s, "(integer) "):
		digits, _, _ := strings.Cut(s[len("(integer) "):], " ") // somebody may have written words behind it
		v, err := strconv.ParseInt(digits, 10, 64)
		n.kind, n.whole = integer, v
		return err == nil
	case strings.HasPrefix(s, "(double) "):
		n.kind, n.text = text, s[len("(double) "):]
	case strings.HasPrefix(s, "(empty "):
		n.kind = list
	case strings.HasPrefix(s, "(error) "):
		n.kind, n.text = failed, s[len("(error) "):]
	case s == "(nil)":
	case strings.HasPrefix(s, `"`):
		t, ok := unquoteText(s)
		n.kind, n.text = text, t
		return ok
	default:
		n.kind, n.text = text, s
	}
	return true
}

// unquoteText takes the quotes off a text as sdscatrepr of src/sds.c puts them. Bytes that it
// shows by their number are one byte each.
func unquoteText(s string) (string, bool) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return "", false
	}
	s = s[1 : len(s)-1]
	if strings.IndexByte(s, '\\') < 0 {
		return s, true
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			out.WriteByte('\n')
		case 'r':
			out.WriteByte('\r')
		case 't':
			out.WriteByte('\t')
		case 'x':
			v, err := strconv.ParseUint(s[min(i+1, len(s)):min(i+3, len(s))], 16, 8)
			if err != nil {
				return "", false
			}
			out.WriteByte(byte(v))
			i += 2
		default:
			out.WriteByte(s[i])
		}
	}
	return out.String(), true
}

// isNumbered says whether an answer as on a terminal begins like this.
func isNumbered(s string) bool {
	if n, _, _, ok := parseIndex(s, 0); ok {
		return n == 1
	}
	return strings.HasPrefix(s, "(integer) ") || strings.HasPrefix(s, "(empty ") || s == "(nil)" || len(s) > 2 && s[0] == '"' && s[len(s)-1] == '"'
}

// hasKinds says whether a list begins with items of such kinds.
func (n *node) hasKinds(kinds ...valueKind) bool {
	if n == nil || n.kind != list || len(n.items) < len(kinds) {
		return false
	}
	for i, k := range kinds {
		if n.items[i].kind != k {
			return false
		}
	}
	return true
}

// firstItem returns the first item of a list, nil of anything else.
func (n *node) firstItem() *node {
	if n == nil || n.kind != list || len(n.items) == 0 {
		return nil
	}
	return n.items[0]
}

func (n *node) isSlow() bool   { return n.firstItem().hasKinds(integer, integer, integer, list) }
func (n *node) isLatest() bool { return n.firstItem().hasKinds(text, integer, integer, integer) }

// isFlatLatest says whether it is the first event of LATENCY LATEST whose figures lost their indentation, so that they stand beside its name.
func (n *node) isFlatLatest() bool {
	return n.hasKinds(list, integer, integer, integer) && len(n.items[0].items) == 1 && eventNames[n.items[0].items[0].text]
}
func (n *node) isHistory() bool {
	x := n.firstItem()
	return x.hasKinds(integer, integer) && len(x.items) == 2 && isTime(strconv.FormatInt(x.items[0].whole, 10))
}
func (n *node) isHistogram() bool {
	return n.hasKinds(text, list) && n.items[1].hasKinds(text, integer, text, list) && n.items[1].items[0].text == "calls"
}
func (n *node) beginsWith(word string) bool { return n.hasKinds(text) && n.items[0].text == word }

// isConfig says whether it is pairs that begin with a setting.
func (n *node) isConfig() bool { return n.hasKinds(text, text) && isSetting(n.items[0].text) }

// itemTexts returns the items of a list as text.
func (n *node) itemTexts() (out []string) {
	for _, x := range n.items {
		if x.kind == integer {
			out = append(out, strconv.FormatInt(x.whole, 10))
		} else {
			out = append(out, x.text)
		}
	}
	return out
}
