package wire

// Growing is a generation that is filled while its events are handed out: of traces that were
// decoded elsewhere.
type Growing struct {
	g       Generation
	textOf  map[string]uint32
	frameOf map[Frame]uint32
}

// NewGrowing returns one without texts and stacks.
func NewGrowing() *Growing {
	return &Growing{g: Generation{table: newTable()}, textOf: map[string]uint32{"": 0}, frameOf: make(map[Frame]uint32)}
}

// Text returns the index of a text.
func (g *Growing) Text(s string) uint32 {
	i, ok := g.textOf[s]
	if !ok {
		i = uint32(len(g.g.texts))
		g.g.texts = append(g.g.texts, s)
		g.textOf[s] = i
	}
	return i
}

// Frame returns the index of a frame, for Stack.
func (g *Growing) Frame(f Frame) uint32 {
	i, ok := g.frameOf[f]
	if !ok {
		i = uint32(len(g.g.frames))
		g.g.frames = append(g.g.frames, f)
		g.frameOf[f] = i
	}
	return i
}

// Stack adds a stack, frames innermost first, and returns its index.
func (g *Growing) Stack(frames []uint32) uint32 {
	g.g.calls = append(g.g.calls, frames...)
	g.g.ends = append(g.g.ends, uint32(len(g.g.calls)))
	return uint32(len(g.g.ends) - 1)
}

// Now is the generation as it is now. What is added later does not change it, so that it may be read
// while more is added.
func (g *Growing) Now() *Generation {
	now := g.g
	now.grows = g
	return &now
}
