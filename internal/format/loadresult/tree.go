package loadresult

import (
	"encoding/json"
	"io"
)

// tree is a JSON object that may break off anywhere: it holds the members that
// were complete, and of those that were not what was.
type tree map[string]any

const (
	maxDepth = 32
	cutKey   = "\x00cut"
)

func (t tree) cut() bool { return t[cutKey] != nil }

// documents reads the objects of a stream that are wanted, up to a number, among so many values.
func documents(r io.Reader, among, most int, wanted func(tree) bool) (found []tree) {
	d := json.NewDecoder(r)
	for n := 0; len(found) < most && n < among; n++ {
		v, err := node(d, 0)
		t, ok := v.(tree)
		if ok && wanted(t) {
			if err != nil {
				t[cutKey] = true
			}
			found = append(found, t)
		}
		if err != nil {
			return found
		}
	}
	return found
}

// node reads one value; with an error it returns what was complete of it.
func node(d *json.Decoder, depth int) (any, error) {
	tok, err := d.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		return tok, nil
	}
	if depth > maxDepth {
		return nil, io.ErrUnexpectedEOF
	}
	if delim == '[' {
		var list []any
		for d.More() {
			v, err := node(d, depth+1)
			if v != nil {
				list = append(list, v)
			}
			if err != nil {
				return list, err
			}
		}
		_, err := d.Token()
		return list, err
	}
	t := tree{}
	last := ""
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return t, err
		}
		v, err := node(d, depth+1)
		if name, ok := key.(string); ok && v != nil {
			t[name], last = v, name
		}
		if err != nil {
			return t, err
		}
	}
	_, err = d.Token()
	if _, number := t[last].(float64); number && err != nil {
		delete(t, last) // there may have been more digits
	}
	return t, err
}

func (t tree) at(path ...string) any {
	for i, name := range path {
		v := t[name]
		if i == len(path)-1 {
			return v
		}
		next, ok := v.(tree)
		if !ok {
			return nil
		}
		t = next
	}
	return nil
}

func (t tree) has(path ...string) bool { return t.at(path...) != nil }

// num returns a number, 0 and false where there is none or null.
func (t tree) num(path ...string) (float64, bool) {
	n, ok := t.at(path...).(float64)
	return n, ok
}

// count returns a number that counts something, 0 where there is none.
func (t tree) count(path ...string) int64 {
	n, _ := t.num(path...)
	if !(n >= 0 && n < 1e18) {
		return 0
	}
	return int64(n)
}

// ns returns a duration given in a unit of so many ns, 0 where there is none.
func (t tree) ns(unit float64, path ...string) int64 {
	n, _ := t.num(path...)
	v, _ := ns(n * unit)
	return v
}

func (t tree) rate(path ...string) float64 {
	n, _ := t.num(path...)
	return max(n, 0)
}

func (t tree) str(path ...string) string {
	s, _ := t.at(path...).(string)
	return s
}

func (t tree) sub(path ...string) tree {
	s, _ := t.at(path...).(tree)
	return s
}
