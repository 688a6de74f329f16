package jfr

import (
	"slices"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/format/java"
	"github.com/unstall/unstall/internal/format/jfr/recording"
)

// symbols are the bundle's names for constants of a chunk. Each chunk has its own keys.
type symbols struct {
	b       *evidence.Builder
	methods map[int64]evidence.NameID
	classes map[int64]evidence.NameID
	threads map[int64]thread
	framed  map[framed]evidence.StackID
	frames  []evidence.Frame

	met              [1 << 10]met      // methods that were met lately
	lately           [1 << 8]metThread // threads that were
	frame            *recording.Class
	atMethod, atLine int // in a frame
}

type met struct {
	key  int64
	name evidence.NameID
}

type metThread struct {
	key   int64
	known bool
	thread
}

func newSymbols(b *evidence.Builder) *symbols {
	return &symbols{b: b, methods: make(map[int64]evidence.NameID), classes: make(map[int64]evidence.NameID), threads: make(map[int64]thread), framed: make(map[framed]evidence.StackID)}
}

// forgetChunk begins another chunk.
func (s *symbols) forgetChunk() {
	clear(s.methods)
	clear(s.met[:])
	clear(s.lately[:])
	s.frame = nil
	clear(s.classes)
	clear(s.threads)
	clear(s.framed)
}

// thread is a thread of the JVM.
type thread struct {
	lane    evidence.LaneID // the system's number, else the program's; 0 unknown
	pool    evidence.NameID // its name without the part that distinguishes it; 0 unknown
	virtual bool
}

// fieldThread returns the thread in a field.
func (s *symbols) fieldThread(e *recording.Record, field string) thread {
	return s.threadOf(e, field, e.Int(field))
}

// threadOf returns the thread in a field whose key is known: each event has one.
func (s *symbols) threadOf(e *recording.Record, field string, key int64) thread {
	last := &s.lately[uint64(key)*0x9e3779b97f4a7c15>>56]
	if last.key == key && last.known {
		return last.thread
	}
	if t, known := s.threads[key]; known {
		*last = metThread{key, true, t}
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
	if pool := java.Pool(name); pool != "" {
		t.pool = s.b.Name(pool)
	}
	switch system, program := r.Int("osThreadId"), r.Int("javaThreadId"); {
	case system > 0 && !t.virtual:
		t.lane = evidence.LaneID(system)
	case program > 0:
		t.lane = evidence.LanesOfProgram + evidence.LaneID(program)
	}
	s.threads[key] = t
	return t
}

// fieldClass returns the name of the class in a field as people write it: "byte[]",
// "java.util.HashMap$Node".
func (s *symbols) fieldClass(e *recording.Record, field string) evidence.NameID {
	key := e.Int(field)
	if name, known := s.classes[key]; known {
		return name
	}
	r, ok := e.Constant(field)
	if !ok {
		return 0
	}
	name := s.b.Name(className(r.Text("name")))
	s.classes[key] = name
	return name
}

// lock is what a thread does with an object of a class; the zero value: nothing.
type lock struct {
	use   evidence.LockUse
	class evidence.NameID
}

// elements are the element types that have a letter in array names
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

// recorders are functions that the recording of an event itself adds to its stack.
var recorders = []string{"jdk.jfr.", "jdk.internal.event.", "java.lang.Thread.afterSleep", "java.lang.Thread.beforeSleep"}

// eventStack returns the stack of an event, with its thread's pool; 0 if the event has none.
func (s *symbols) eventStack(e *recording.Record, t thread) evidence.StackID {
	return s.callStack(e, t, lock{}, nil)
}

// callStack is [symbols.eventStack] of a wait, for a lock if one is given, in a call that the stack may omit.
func (s *symbols) callStack(e *recording.Record, t thread, wait lock, in *call) evidence.StackID {
	k := framed{e.Int("stackTrace"), t.pool, wait, in}
	if id, known := s.framed[k]; known {
		return id
	}
	s.frames = s.frames[:0]
	id := evidence.StackID(0)
	if s.addFrames(e) {
		if in != nil && !slices.ContainsFunc(in.own, func(own string) bool { return strings.HasPrefix(s.b.Text(s.frames[0].Func), own) }) {
			s.frames = slices.Insert(s.frames, 0, evidence.Frame{Func: s.b.Name(in.method)})
		}
		id = s.b.ThreadStack(s.frames, evidence.ThreadInfo{Name: s.b.Text(t.pool), Lock: wait.use, Class: s.b.Text(wait.class)})
	}
	s.framed[k] = id
	return id
}

// framed is a stack, by its key, with its thread's details.
type framed struct {
	key  int64
	pool evidence.NameID
	wait lock
	in   *call
}

// addFrames adds the frames of an event's stack, innermost first; it returns false if there are
// none.
func (s *symbols) addFrames(e *recording.Record) bool {
	r, ok := e.Constant("stackTrace")
	if !ok {
		return false
	}
	r.Elements("frames", func(f *recording.Record) bool {
		if f.Class != s.frame {
			s.frame, s.atMethod, s.atLine = f.Class, f.Class.Field("method"), f.Class.Field("lineNumber")
		}
		name := s.methodName(f)
		if name == 0 || len(s.frames) == 0 && s.isRecorder(name) {
			return len(s.frames) < maxFrames
		}
		s.frames = append(s.frames, evidence.Frame{Func: name, Line: int32(max(0, f.Number(s.atLine)))})
		return len(s.frames) < maxFrames
	})
	return len(s.frames) > 0
}

const maxFrames = 2048 // JFR's own bound of stackdepth

func (s *symbols) isRecorder(method evidence.NameID) bool {
	name := s.b.Text(method)
	for _, r := range recorders {
		if strings.HasPrefix(name, r) {
			return true
		}
	}
	return false
}

// methodName returns the name of a frame's method: "shop.Cart.get".
func (s *symbols) methodName(frame *recording.Record) evidence.NameID {
	key := frame.Number(s.atMethod)
	last := &s.met[uint64(key)*0x9e3779b97f4a7c15>>54]
	if last.key == key && last.name != 0 {
		return last.name
	}
	if id, known := s.methods[key]; known {
		*last = met{key, id}
		return id
	}
	r, ok := frame.Constant("method")
	if !ok {
		return 0
	}
	name := r.Text("name")
	if class := s.fieldClass(&r, "type"); class != 0 {
		name = java.Stable(s.b.Text(class) + "." + name)
	}
	id := s.b.Name(strings.ToValidUTF8(name, "?"))
	s.methods[key] = id
	return id
}
