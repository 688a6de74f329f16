package evidence

import "slices"

// HandlingID identifies what was seen of how a request was handled, in [Handlings]; 0: nothing.
type HandlingID int32

// Caller is a function of a program or library on the stack of a goroutine that serves a request.
type Caller struct {
	Func   NameID
	Line   int32 // of its call of the next function; 0 for the last
	Called bool  // called by a server or router, or in the way a handler is: it may be the handler
}

// Handlings holds, for many requests, the stacks on which each was seen while it was handled. Only all requests together tell which
// function is the handler: a function that calls another handler is a wrapper.
type Handlings struct {
	ids    map[string]int32
	stacks [][]Caller
	sets   [][]int32 // of stacks
	key    []byte
}

// Stack returns the number of a stack, outermost function first. It copies the slice.
func (h *Handlings) Stack(callers []Caller) int32 {
	h.key = append(h.key[:0], 's')
	for _, c := range callers {
		h.key = append(h.key, byte(c.Func), byte(c.Func>>8), byte(c.Func>>16), byte(c.Func>>24),
			byte(c.Line), byte(c.Line>>8), byte(c.Line>>16), byte(c.Line>>24))
		if c.Called {
			h.key = append(h.key, 1)
		} else {
			h.key = append(h.key, 0)
		}
	}
	id, is := h.internKey(len(h.stacks))
	if is {
		h.stacks = append(h.stacks, slices.Clone(callers))
	}
	return id
}

// Of returns the number of a set of stacks. The slice is sorted.
func (h *Handlings) Of(stacks []int32) HandlingID {
	if len(stacks) == 0 {
		return 0
	}
	slices.Sort(stacks)
	h.key = append(h.key[:0], 'r')
	for _, s := range stacks {
		h.key = append(h.key, byte(s), byte(s>>8), byte(s>>16), byte(s>>24))
	}
	id, is := h.internKey(len(h.sets) + 1)
	if is {
		h.sets = append(h.sets, slices.Clone(stacks))
	}
	return HandlingID(id)
}

// internKey gives key the number next if key is new.
func (h *Handlings) internKey(next int) (id int32, is bool) {
	if id, ok := h.ids[string(h.key)]; ok {
		return id, false
	}
	if h.ids == nil {
		h.ids = make(map[string]int32)
	}
	h.ids[string(h.key)] = int32(next)
	return int32(next), true
}

// Len returns the number of handlings; they are numbered from 1.
func (h *Handlings) Len() int { return len(h.sets) }

// Stacks returns the stacks on which requests of a handling were seen.
func (h *Handlings) Stacks(id HandlingID) (out [][]Caller) {
	if id <= 0 || int(id) > len(h.sets) {
		return nil
	}
	for _, s := range h.sets[id-1] {
		out = append(out, h.stacks[s])
	}
	return out
}
