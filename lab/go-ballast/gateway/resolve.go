package main

import "unsafe"

// field is a node of the tree that a query is resolved into.
type field struct {
	name     *string
	value    any
	parent   *field
	children []*field
	session  *session
}

const fieldBytes = int(unsafe.Sizeof(field{})) + 16 // and its places in the parent's children and in its level

// answer is what the client gets.
type answer struct {
	User      string `json:"user"`
	Region    string `json:"region"`
	Fields    int    `json:"fields"`
	Documents []any  `json:"documents"`
}

// resolve joins the documents the way a query layer does: it expands them into a
// tree of fields, eight to a node, and walks it. The tree is garbage when the
// request is done.
func resolve(s *session, documents []any, fields int) answer {
	root := &field{name: s.user.name, session: s}
	level := []*field{root}
	for made := 0; made < fields; {
		next := make([]*field, 0, min(8*len(level), fields-made))
		for _, parent := range level {
			if made == fields {
				break
			}
			parent.children = make([]*field, 0, 8)
			for k := 0; k < 8 && made < fields; k++ {
				child := &field{name: s.user.region, value: documents[k%len(documents)], parent: parent, session: s.friends[k%len(s.friends)]}
				parent.children = append(parent.children, child)
				made++
			}
			next = append(next, parent.children...)
		}
		level = next
	}
	return answer{User: *s.user.name, Region: *s.user.region, Fields: root.count(), Documents: documents}
}

func (f *field) count() int {
	n := 1
	for _, c := range f.children {
		n += c.count()
	}
	return n
}
