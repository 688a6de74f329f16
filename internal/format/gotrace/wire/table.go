package wire

import (
	"encoding/binary"
	"fmt"
)

// Limits of the format (internal/trace/tracev2/events.go).
const (
	maxBatch  = 64 << 10
	maxString = 1 << 10
	maxFrames = 128
)

// Frame is a function on a stack. Func and File are texts of its generation.
type Frame struct {
	PC         uint64
	Line       uint64
	Func, File uint32
}

// table is what the events of a generation refer to by numbers. What is asked for it is known
// by an index, its position among what was written, from 1 on; 0 is none.
type table struct {
	texts    []string
	textIDs  index
	frames   []Frame
	wrote    []names           // of frames: their texts as they were written, until all are known
	byPC     map[uint64]uint32 // into frames: the first that was written of a PC holds
	calls    []uint32          // into frames, all stacks in turn
	ends     []uint32          // of stacks in calls
	stackIDs index
}

// names are a frame's function and file by what they are written as.
type names struct{ fn, file uint64 }

func newTable() table {
	return table{texts: []string{""}, ends: []uint32{0}, byPC: make(map[uint64]uint32)}
}

// numbers reads a batch one number after the other; the first that is missing or malformed
// makes it bad.
type numbers struct {
	data []byte
	bad  bool
}

func (n *numbers) nextNumber() uint64 {
	if len(n.data) > 0 && n.data[0] < 0x80 {
		v := uint64(n.data[0])
		n.data = n.data[1:]
		return v
	}
	v, k := binary.Uvarint(n.data)
	if k <= 0 {
		n.bad, n.data = true, nil
		return 0
	}
	n.data = n.data[k:]
	return v
}

func (n *numbers) nextType() Type {
	k := Type(n.data[0])
	n.data = n.data[1:]
	return k
}

// addTexts reads a batch of strings.
func (t *table) addTexts(data []byte) error {
	all := string(data) // one for all of them
	n := numbers{data: data[1:]}
	for len(n.data) > 0 {
		if k := n.nextType(); k != evString {
			return fmt.Errorf("event %d among strings", k)
		}
		id, size := n.nextNumber(), n.nextNumber()
		if n.bad || size > maxString || size > uint64(len(n.data)) {
			return fmt.Errorf("string %d of %d bytes does not fit its batch or the format", id, size)
		}
		at := len(all) - len(n.data)
		t.texts = append(t.texts, all[at:at+int(size)])
		t.textIDs.add(id)
		n.data = n.data[size:]
	}
	return nil
}

// addStacks reads a batch of stacks.
func (t *table) addStacks(data []byte) error {
	n := numbers{data: data[1:]}
	for len(n.data) > 0 {
		if k := n.nextType(); k != evStack {
			return fmt.Errorf("event %d among stacks", k)
		}
		id, depth := n.nextNumber(), n.nextNumber()
		if n.bad || depth > maxFrames {
			return fmt.Errorf("stack %d of %d frames, of which there are at most %d", id, depth, maxFrames)
		}
		for range depth {
			pc, fn, file, line := n.nextNumber(), n.nextNumber(), n.nextNumber(), n.nextNumber()
			if n.bad {
				return fmt.Errorf("stack %d is cut short", id)
			}
			k, ok := t.byPC[pc]
			if !ok {
				k = uint32(len(t.frames))
				t.byPC[pc] = k
				t.frames = append(t.frames, Frame{PC: pc, Line: line})
				t.wrote = append(t.wrote, names{fn, file})
			}
			t.calls = append(t.calls, k)
		}
		t.ends = append(t.ends, uint32(len(t.calls)))
		t.stackIDs.add(id)
	}
	return nil
}

// completeTable is called once all of the generation was read: it builds the indexes and resolves
// the texts of frames.
func (t *table) completeTable() error {
	if err := t.textIDs.buildIndex(); err != nil {
		return fmt.Errorf("strings: %w", err)
	}
	if err := t.stackIDs.buildIndex(); err != nil {
		return fmt.Errorf("stacks: %w", err)
	}
	for i, w := range t.wrote {
		f := &t.frames[i]
		var ok, ok2 bool
		f.Func, ok = t.textIDs.find(w.fn)
		f.File, ok2 = t.textIDs.find(w.file)
		if !ok || !ok2 {
			return fmt.Errorf("a frame of the stacks names a string that is not there: %d or %d", w.fn, w.file)
		}
	}
	t.wrote, t.byPC = nil, nil
	return nil
}

// index finds what was written with an ID. The runtime numbers from 1 on, so that it is
// looked up in a slice; IDs that leave large gaps are in a map.
type index struct {
	ids    []uint64 // as they were added, until complete
	most   uint64
	dense  []uint32
	sparse map[uint64]uint32
}

func (x *index) add(id uint64) {
	x.ids = append(x.ids, id)
	x.most = max(x.most, id)
}

func (x *index) buildIndex() error {
	if x.most <= 4*uint64(len(x.ids))+1<<10 {
		x.dense = make([]uint32, x.most+1)
	} else {
		x.sparse = make(map[uint64]uint32, len(x.ids))
	}
	for i, id := range x.ids {
		if k, _ := x.find(id); id == 0 || k != 0 {
			return fmt.Errorf("two have the number %d", id)
		}
		if x.sparse != nil {
			x.sparse[id] = uint32(i + 1)
		} else {
			x.dense[id] = uint32(i + 1)
		}
	}
	x.ids = nil
	return nil
}

// find returns the index of an ID; 0 is known always, and none.
func (x *index) find(id uint64) (i uint32, ok bool) {
	if id < uint64(len(x.dense)) {
		i = x.dense[id]
	} else {
		i = x.sparse[id]
	}
	return i, i != 0 || id == 0
}
