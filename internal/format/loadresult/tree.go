package loadresult

import (
	"encoding/json"
	"io"
)

// tree is a JSON object that may break off anywhere: it holds the members that
// were complete, and the complete parts of others.
type tree map[string]any

const (
	maxDepth = 32
	cutKey   = "\x00cut"
)

func (t tree) isCut() bool { return t[cutKey] != nil }

// decodeDocuments decodes the wanted objects of a stream, up to a number of them, among the
// first values.
func decodeDocuments(r io.Reader, among, most int, wanted func(tree) bool) (found []tree) {
	d := json.NewDecoder(r)
	for n := 0; len(found) < most && n < among; n++ {
		v, err := decodeNode(d, 0)
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

// decodeNode decodes one value; with an error it returns what was complete of it.
func decodeNode(d *json.Decoder, depth int) (any, error) {
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
			v, err := decodeNode(d, depth+1)
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
		v, err := decodeNode(d, depth+1)
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

func (t tree) valueAt(path ...string) any {
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

func (t tree) hasValue(path ...string) bool { return t.valueAt(path...) != nil }

// numberAt returns a number, 0 and false where there is none or null.
func (t tree) numberAt(path ...string) (float64, bool) {
	n, ok := t.valueAt(path...).(float64)
	return n, ok
}

// countAt returns a number that counts something, 0 where there is none.
func (t tree) countAt(path ...string) int64 {
	n, _ := t.numberAt(path...)
	if !(n >= 0 && n < 1e18) {
		return 0
	}
	return int64(n)
}

// durationAt returns a duration given in a unit of so many ns, 0 where there is none.
func (t tree) durationAt(unit float64, path ...string) int64 {
	n, _ := t.numberAt(path...)
	v, _ := roundNanoseconds(n * unit)
	return v
}

func (t tree) rateAt(path ...string) float64 {
	n, _ := t.numberAt(path...)
	return max(n, 0)
}

func (t tree) stringAt(path ...string) string {
	s, _ := t.valueAt(path...).(string)
	return s
}

func (t tree) treeAt(path ...string) tree {
	s, _ := t.valueAt(path...).(tree)
	return s
}
