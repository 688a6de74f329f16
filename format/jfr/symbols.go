package jfr

import (
	"strings"

	"github.com/unstall/unstall/evidence"
	"github.com/unstall/unstall/format/java"
	"github.com/unstall/unstall/format/jfr/recording"
	"github.com/unstall/unstall/threads"
)

// symbols are the names that constants of a chunk have in the bundle. Keys are a chunk's own.
type symbols struct {
	b       *evidence.Builder
	stacks  map[int64]evidence.StackID
	methods map[int64]evidence.NameID
	classes map[int64]string
	threads map[int64]thread
	framed  map[framed]evidence.StackID
	frames  []evidence.Frame
}

func newSymbols(b *evidence.Builder) *symbols {
	return &symbols{b: b, stacks: make(map[int64]evidence.StackID), methods: make(map[int64]evidence.NameID), classes: make(map[int64]string), threads: make(map[int64]thread), framed: make(map[framed]evidence.StackID)}
}

// forget begins another chunk.
func (s *symbols) forget() {
	clear(s.stacks)
	clear(s.methods)
	clear(s.classes)
	clear(s.threads)
}

// thread is one of the JVM.
type thread struct {
	lane    evidence.LaneID // the system's number, else the program's; 0 unknown
	pool    string          // its name without what tells it from others
	virtual bool
}

// thread is that of a field.
func (s *symbols) thread(e *recording.Record, field string) thread {
	key := e.Int(field)
	if t, known := s.threads[key]; known {
		return t
	}
	r, ok := e.Constant(field)
	if !ok {
		return thread{}
	}
	t := thread{virtual: r.Bool("virtual")}
	name := r.Text("javaName")
	if name == "" && !t.virtual {
		name = r.Text("osName")
	}
	t.pool = java.Pool(name)
	switch system, program := r.Int("osThreadId"), r.Int("javaThreadId"); {
	case system > 0 && !t.virtual:
		t.lane = evidence.LaneID(system)
	case program > 0:
		t.lane = threads.ByProgram + evidence.LaneID(program)
	}
	s.threads[key] = t
	return t
}

// class is the name of a class as people write it: "byte[]", "java.util.HashMap$Node".
func (s *symbols) class(e *recording.Record, field string) string {
	key := e.Int(field)
	if name, known := s.classes[key]; known {
		return name
	}
	r, ok := e.Constant(field)
	if !ok {
		return ""
	}
	name := className(r.Text("name"))
	s.classes[key] = name
	return name
}

// elements are the types of which arrays have a letter
// (https://docs.oracle.com/javase/specs/jvms/se21/html/jvms-4.html#jvms-4.3.2).
var elements = map[byte]string{'B': "byte", 'C': "char", 'D': "double", 'F': "float", 'I': "int", 'J': "long", 'S': "short", 'Z': "boolean"}

func className(internal string) string {
	name := strings.TrimLeft(internal, "[")
	dimensions := len(internal) - len(name)
	if dimensions > 0 && name != "" {
		if e := elements[name[0]]; e != "" && len(name) == 1 {
			name = e
		} else {
			name = strings.TrimSuffix(strings.TrimPrefix(name, "L"), ";")
		}
	}
	hidden := "" // a hidden class has an address behind a / or +
	if i := strings.Index(name, "$$Lambda"); i >= 0 {
		name, hidden = name[:i], "$$Lambda"
	} else if i := strings.IndexByte(name, '+'); i > 0 {
		name = name[:i]
	}
	return strings.ToValidUTF8(strings.ReplaceAll(name, "/", "."), "?") + hidden + strings.Repeat("[]", min(dimensions, 255))
}

// recorders are functions that the recording of an event itself puts on its stack.
var recorders = []string{"jdk.jfr.", "jdk.internal.event.", "java.lang.Thread.afterSleep", "java.lang.Thread.beforeSleep"}

// stack is the stack of an event with a thread's pool as the outermost frame, and what it waits for, where that is
// said, as the innermost, as those of thread dumps are; 0 if the event has none.
func (s *symbols) stack(e *recording.Record, t thread, lock string) evidence.StackID {
	id := s.plain(e)
	if id == 0 || t.pool == "" && lock == "" {
		return id
	}
	k := framed{id, t.pool, lock}
	with, known := s.framed[k]
	if !known {
		s.frames = s.frames[:0]
		if lock != "" {
			s.frames = append(s.frames, evidence.Frame{Func: s.b.Name(lock)})
		}
		s.frames = append(s.frames, s.b.Frames(id)...)
		if t.pool != "" {
			s.frames = append(s.frames, evidence.Frame{Func: s.b.Name("[" + t.pool + "]")})
		}
		with = s.b.Stack(s.frames)
		s.framed[k] = with
	}
	return with
}

// framed is a stack with what stands around it.
type framed struct {
	stack      evidence.StackID
	pool, lock string
}

// plain is the stack of an event, innermost frame first.
func (s *symbols) plain(e *recording.Record) evidence.StackID {
	key := e.Int("stackTrace")
	if id, known := s.stacks[key]; known || key == 0 {
		return id
	}
	r, ok := e.Constant("stackTrace")
	if !ok {
		return 0
	}
	s.frames = s.frames[:0]
	r.Elements("frames", func(f *recording.Record) bool {
		name := s.method(f)
		if name == 0 || len(s.frames) == 0 && s.records(name) {
			return len(s.frames) < maxFrames
		}
		s.frames = append(s.frames, evidence.Frame{Func: name, Line: int32(max(0, f.Int("lineNumber")))})
		return len(s.frames) < maxFrames
	})
	id := s.b.Stack(s.frames)
	s.stacks[key] = id
	return id
}

const maxFrames = 2048 // JFR's own bound of stackdepth

func (s *symbols) records(method evidence.NameID) bool {
	name := s.b.Text(method)
	for _, r := range recorders {
		if strings.HasPrefix(name, r) {
			return true
		}
	}
	return false
}

// method is the name of a frame's method: "shop.Cart.get".
func (s *symbols) method(frame *recording.Record) evidence.NameID {
	key := frame.Int("method")
	if id, known := s.methods[key]; known {
		return id
	}
	r, ok := frame.Constant("method")
	if !ok {
		return 0
	}
	name := r.Text("name")
	if class := s.class(&r, "type"); class != "" {
		name = java.Stable(class + "." + name)
	}
	id := s.b.Name(strings.ToValidUTF8(name, "?"))
	s.methods[key] = id
	return id
}
