package redisreply

import (
	"strconv"
	"strings"
)

// Clients print the slow log as values of their language:
//
//	[{'id': 88121, 'start_time': 1444753120, 'duration': 4118202, 'command': b'KEYS session:*'}]     Python (redis-py)
//	[[88121, 1444753120, 4118202, ["KEYS", "session:*"], "10.0.4.31:41022", ""]]                     Ruby, Node.js, redis-cli --json
//
// Both are read alike: lists and dictionaries of numbers and strings. The client for Python joins the arguments of a command into one string.
// PHP prints its arrays over many lines, with an index before each value, which are rewritten as the lists of the others (fromPHP):
//
//	Array                                  array(1) {
//	(                                        [0]=>
//	    [0] => 3411                          int(3411)
//	    [3] => Array                         [3]=>
//	        (                                array(1) {
//	            [0] => KEYS                    [0]=>
//	        )                                  string(4) "KEYS"
//	)                                        }
//	                                       }

// Bounds of such a value.
const (
	mostLiteral = 1 << 20 // bytes
	deepest     = 8
)

// literal collects the lines of a value until its brackets are closed.
type literal struct {
	text  strings.Builder
	depth int  // of brackets
	quote byte // that a string is open with, 0 none
	lost  bool // it is too long
	php   bool // as PHP prints it
}

// answered is the prompt behind which a console of Ruby prints a value.
const answered = "=> "

// opensLiteral says whether a line may begin such a value: with a list of lists or dictionaries.
func opensLiteral(line string) bool {
	if opensPHP(line) {
		return true
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(strings.TrimPrefix(line, answered), " \t"), "[")
	rest = strings.TrimLeft(rest, " \t")
	return ok && (rest == "" || rest[0] == '[' || rest[0] == '{')
}

// beginsLiteral says whether text begins with such a value of a slow log.
func beginsLiteral(head string) bool {
	first, _, _ := strings.Cut(head, "\n")
	if !opensLiteral(strings.TrimRight(first, "\r")) {
		return false
	}
	if opensPHP(first) {
		var rewritten strings.Builder
		for line := range strings.Lines(head) {
			rewritten.WriteString(fromPHP(line))
		}
		head = rewritten.String()
	}
	calls, _ := parseLiteral(head)
	return len(calls) > 0
}

// opensPHP says whether a line begins an array as PHP prints it.
func opensPHP(line string) bool {
	line, _, _ = strings.Cut(line, "\n")
	line = strings.TrimSpace(line)
	return line == "Array" || strings.HasPrefix(line, "array(")
}

var quotePHP = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// fromPHP rewrites a line of print_r or var_dump as one of a list. A key is left out: a list numbers its values.
func fromPHP(line string) string {
	value := strings.TrimSpace(line)
	keyed := strings.HasPrefix(value, "[")
	if keyed {
		_, after, ok := strings.Cut(value, "]")
		printed, isPrinted := strings.CutPrefix(after, " =>")
		if !ok || !isPrinted {
			return "" // of var_dump: the value stands on the next line
		}
		value = strings.TrimPrefix(printed, " ")
	}
	switch {
	case value == "Array", value == "" && !keyed:
		return ""
	case value == "(" && !keyed, strings.HasPrefix(value, "array(") && strings.HasSuffix(value, "{"):
		return "["
	case (value == ")" || value == "}") && !keyed:
		return "],"
	}
	if whole, ok := strings.CutPrefix(value, "int("); ok && strings.HasSuffix(whole, ")") {
		value = strings.TrimSuffix(whole, ")")
	}
	if _, err := strconv.ParseInt(value, 10, 64); err == nil {
		return value + ","
	}
	if _, quoted, ok := strings.Cut(value, `) "`); ok && strings.HasPrefix(value, "string(") {
		value = strings.TrimSuffix(quoted, `"`)
	}
	return `"` + quotePHP.Replace(value) + `",`
}

// addLine adds a line, and says whether the value is complete.
func (x *literal) addLine(line string) (complete bool) {
	if x.text.Len() == 0 && !x.php {
		x.php = opensPHP(line)
	}
	if x.php {
		if line = fromPHP(line); line == "" {
			return false
		}
	}
	if x.text.Len()+len(line) > mostLiteral {
		x.lost = true
		return false
	}
	x.text.WriteString(line)
	x.text.WriteByte('\n')
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case x.quote != 0 && c == '\\':
			i++
		case x.quote != 0:
			if c == x.quote {
				x.quote = 0
			}
		case c == '"' || c == '\'':
			x.quote = c
		case c == '[' || c == '{':
			x.depth++
		case c == ']' || c == '}':
			x.depth--
		}
	}
	return x.depth <= 0
}

// parseLiteral reads the entries of a value, and says whether it ends. What is cut gives the entries before.
func parseLiteral(s string) (calls []call, complete bool) {
	r := reader{rest: strings.TrimPrefix(s, answered)}
	if !r.takeByte('[') {
		return nil, false
	}
	for len(calls) < mostSlow {
		if r.takeByte(']') {
			return calls, true
		}
		v, ok := r.readValue(1)
		if !ok {
			return calls, false
		}
		c, ok := v.asCall()
		if !ok {
			return nil, false
		}
		calls = append(calls, c)
		r.takeByte(',')
	}
	return calls, false
}

// literalValue is a value: a number, a string, a list, or a dictionary, whose items have keys.
type literalValue struct {
	node
	keys []string
}

// asCall takes a value for an entry of a slow log.
func (v *literalValue) asCall() (c call, ok bool) {
	if v.keys != nil {
		whole := func(key string) int64 {
			if x := v.findMember(key); x != nil && x.kind == integer {
				return x.whole
			}
			return -1
		}
		c = call{id: whole("id"), at: whole("start_time"), took: whole("duration")}
		command := v.findMember("command")
		if command == nil || c.id < 0 || c.took < 0 {
			return c, false
		}
		if c.arguments = command.itemTexts(); command.kind == text {
			c.arguments = strings.Fields(command.text)
		}
		if x := v.findMember("client_address"); x != nil && x.kind == text {
			c.client = x.text
		}
	} else {
		if v.kind != list || len(v.items) < 4 || !v.hasKinds(integer, integer, integer, list) && !(len(v.items) == 6 && v.hasKinds(integer, integer, integer, list, text, text)) {
			return c, false
		}
		c = call{id: v.items[0].whole, at: v.items[1].whole, took: v.items[2].whole, arguments: v.items[3].itemTexts()}
		if len(v.items) > 4 {
			c.client = v.items[4].text
		}
	}
	return c, len(c.arguments) > 0 && isPlausible(c)
}

func (v *literalValue) findMember(key string) *node {
	for i, k := range v.keys {
		if k == key {
			return v.items[i]
		}
	}
	return nil
}

// reader reads values from text.
type reader struct{ rest string }

// takeByte takes one character behind blanks, if it is there.
func (r *reader) takeByte(c byte) bool {
	r.rest = strings.TrimLeft(r.rest, " \t\r\n")
	if r.rest == "" || r.rest[0] != c {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

// readValue reads a value.
func (r *reader) readValue(depth int) (v *literalValue, ok bool) {
	v = &literalValue{}
	switch {
	case depth > deepest:
		return v, false
	case r.takeByte('['):
		v.kind = list
		return v, r.readItems(v, ']', depth)
	case r.takeByte('{'):
		v.kind, v.keys = list, []string{}
		return v, r.readItems(v, '}', depth)
	}
	if s, ok := r.readQuoted(); ok {
		v.kind, v.text = text, s
		return v, true
	}
	end := strings.IndexFunc(r.rest, func(c rune) bool { return (c < '0' || c > '9') && c != '-' })
	if end <= 0 {
		return v, false // a number that the text ends with may be cut
	}
	n, err := strconv.ParseInt(r.rest[:end], 10, 64)
	r.rest = strings.TrimPrefix(r.rest[end:], "L") // of Python 2
	v.kind, v.whole = integer, n
	return v, err == nil
}

// readItems reads the items of a list or dictionary up to its end.
func (r *reader) readItems(v *literalValue, end byte, depth int) bool {
	for !r.takeByte(end) {
		if v.keys != nil {
			key, ok := r.readQuoted()
			if !ok || !r.takeByte(':') {
				return false
			}
			v.keys = append(v.keys, key)
		}
		item, ok := r.readValue(depth + 1)
		if !ok || len(v.items) == mostSlow {
			return false
		}
		v.items = append(v.items, &item.node)
		r.takeByte(',')
	}
	return true
}

// readQuoted reads a string in single or double quotes; Python writes a b before the quote of bytes.
func (r *reader) readQuoted() (s string, ok bool) {
	r.rest = strings.TrimLeft(r.rest, " \t\r\n")
	at := strings.TrimPrefix(strings.TrimPrefix(r.rest, "b"), "u")
	if at == "" || at[0] != '\'' && at[0] != '"' {
		return "", false
	}
	var out strings.Builder
	for i := 1; i < len(at); i++ {
		switch at[i] {
		case at[0]:
			r.rest = at[i+1:]
			return out.String(), true
		case '\\':
			i++
			if i < len(at) {
				out.WriteByte(at[i])
			}
		default:
			out.WriteByte(at[i])
		}
	}
	return "", false
}
