package evidence

import (
	"hash/maphash"
	"slices"
)

// NameID identifies a string in a [Bundle]'s Names. 0 is "" and means unknown.
type NameID int32

// Names interns strings: routes, causes, dependencies, sample types.
type Names struct {
	ids   map[string]NameID
	text  []string
	waits map[NameID]Wait // by name of a wait: what is known of it
}

// ID returns the number of s and assigns one if s is new.
func (n *Names) ID(s string) NameID {
	if s == "" {
		return 0
	}
	if id, ok := n.ids[s]; ok {
		return id
	}
	if n.ids == nil {
		n.ids = make(map[string]NameID)
		n.text = append(n.text, "")
	}
	id := NameID(len(n.text))
	// The key is copied: parsers hand in slices of their line buffers.
	s = string(append([]byte(nil), s...))
	n.ids[s] = id
	n.text = append(n.text, s)
	return id
}

// BytesID is ID without an allocation for a known name.
func (n *Names) BytesID(b []byte) NameID {
	if id, ok := n.ids[string(b)]; ok {
		return id
	}
	return n.ID(string(b))
}

// Lookup returns the number of s without interning it; 0 if it is not there.
func (n *Names) Lookup(s string) NameID { return n.ids[s] }

// Text returns the string behind id, "" for unassigned numbers.
func (n *Names) Text(id NameID) string {
	if id <= 0 || int(id) >= len(n.text) {
		return ""
	}
	return n.text[id]
}

// Len returns the number of interned strings.
func (n *Names) Len() int { return max(0, len(n.text)-1) }

// StackID identifies a call stack in a [Bundle]'s Stacks. 0 means unknown.
type StackID int32

// Frame is one call of a stack.
type Frame struct {
	Func NameID // as the runtime prints it: net/http.(*conn).serve
	File NameID
	Line int32
}

// Stacks interns call stacks, innermost frame first, with facts about their threads.
type Stacks struct {
	ids    map[uint64]StackID // by a hash of the stack; those with the same hash are at the next numbers
	frames [][]Frame
	room   []Frame  // for the frames of further stacks
	info   []uint32 // by stack: index of infos
	infos  []ThreadInfo
	infoAt map[ThreadInfo]uint32
	key    []byte
}

// ID returns the number of a stack and assigns one if it is new. Frames are innermost first; the slice is copied.
func (s *Stacks) ID(frames []Frame) StackID { return s.Of(frames, ThreadInfo{}) }

// Of is ID for the stack of a thread with further facts.
func (s *Stacks) Of(frames []Frame, info ThreadInfo) StackID {
	if len(frames) == 0 && info == (ThreadInfo{}) {
		return 0
	}
	at, known := s.infoAt[info]
	if !known {
		if s.infoAt == nil {
			s.infoAt = make(map[ThreadInfo]uint32)
		}
		info = info.clone() // parsers hand in slices of their line buffers
		at = uint32(len(s.infos))
		s.infos = append(s.infos, info)
		s.infoAt[info] = at
	}
	s.key = append(s.key[:0], byte(at), byte(at>>8), byte(at>>16), byte(at>>24))
	for _, f := range frames {
		s.key = append(s.key,
			byte(f.Func), byte(f.Func>>8), byte(f.Func>>16), byte(f.Func>>24),
			byte(f.File), byte(f.File>>8), byte(f.File>>16), byte(f.File>>24),
			byte(f.Line), byte(f.Line>>8), byte(f.Line>>16), byte(f.Line>>24))
	}
	hash := maphash.Bytes(stackSeed, s.key)
	for id, ok := s.ids[hash]; ok; id, ok = s.ids[hash] {
		if s.info[id] == at && slices.Equal(s.frames[id], frames) {
			return id
		}
		hash++
	}
	if s.ids == nil {
		s.ids = make(map[uint64]StackID)
		s.frames, s.info = append(s.frames, nil), append(s.info, at)
	}
	id := StackID(len(s.frames))
	s.ids[hash] = id
	s.frames, s.info = append(s.frames, s.keepFrames(frames)), append(s.info, at)
	return id
}

// stackSeed is another one in each process: no file can have stacks whose hashes are the same.
var stackSeed = maphash.MakeSeed()

// mostRoom is for how many frames room is made at once.
const mostRoom = 4096

// keepFrames copies frames.
func (s *Stacks) keepFrames(frames []Frame) []Frame {
	n := len(frames)
	if n == 0 {
		return nil
	}
	if cap(s.room)-len(s.room) < n {
		s.room = make([]Frame, 0, max(n, min(mostRoom, 16*len(s.frames))))
	}
	s.room = append(s.room, frames...)
	return s.room[len(s.room)-n : len(s.room) : len(s.room)]
}

// Frames returns the frames of a stack, innermost first, nil if unknown. The
// slice must not be changed.
func (s *Stacks) Frames(id StackID) []Frame {
	if id <= 0 || int(id) >= len(s.frames) {
		return nil
	}
	return s.frames[id]
}

// All yields every stack.
func (s *Stacks) All(yield func(StackID) bool) {
	for id := 1; id < len(s.frames); id++ {
		if !yield(StackID(id)) {
			return
		}
	}
}

// Info returns the facts about a stack's thread.
func (s *Stacks) Info(id StackID) ThreadInfo {
	if id <= 0 || int(id) >= len(s.info) {
		return ThreadInfo{}
	}
	return s.infos[s.info[id]]
}
