package evidence

// RequestID is a row of [Requests] plus one.
type RequestID int32

// NoRequest is the RequestID of rows that belong to no request.
const NoRequest RequestID = 0

// Outcome is how a request ended.
type Outcome uint8

// Outcomes. The end (or start) of an unfinished request lies outside the recording: its latency is a lower bound.
const (
	OK Outcome = iota
	Failed
	TimedOut
	Unfinished
)

func (o Outcome) String() string {
	return [...]string{"ok", "error", "timeout", "unfinished"}[min(o, Unfinished)]
}

// Request is one row of [Requests].
type Request struct {
	Subject  SubjectID
	Clock    ClockID
	Route    NameID // "GET /play/{id}", a handler's name, a task type; 0 unknown
	Lane     LaneID // the lane that serves it, 0 unknown
	Thread   LaneID // the thread that read it, answered it and served no other request in between, by the kernel's record; 0 unknown
	Intended int64  // ns: when the client meant to send it, 0 unknown
	Start    int64  // ns: when work on it began inside the process (or could have), 0 unknown
	End      int64  // ns
	Outcome  Outcome
	Path     Path // its states, nil where they are not known
	Handling HandlingID
	Step     NameID     // "buy: into the cart": its journey and step; 0: none
	Key      RequestKey // of the id that its sources know it by; 0: none
	Origin   Origin
}

// Began returns when the request's latency starts: Intended, else Start.
func (r *Request) Began() int64 {
	if r.Intended != 0 {
		return r.Intended
	}
	return r.Start
}

// Latency returns End − Intended, or End − Start where the intended time is unknown.
func (r *Request) Latency() int64 { return r.End - r.Began() }

// Requests holds requests as columns; row i of each is one request. Rows are in order of completion within one artifact, and in no
// order across artifacts.
type Requests struct {
	Subject  Column[SubjectID]
	Clock    Column[ClockID]
	Route    Column[NameID]
	Lane     Column[LaneID]
	Thread   Column[LaneID]
	Intended Column[int64]
	Start    Column[int64]
	End      Column[int64]
	Outcome  Column[Outcome]
	Handling Column[HandlingID] // the stacks on which its handler was seen, where Route must be derived from them; 0: none
	Step     Column[NameID]
	Key      Column[RequestKey]
	Origin   Column[Origin]
	pathEnd  Column[int64] // cumulative: path i is paths[pathEnd[i-1]:pathEnd[i]]
	paths    pathStore
}

// Len returns the number of requests.
func (r *Requests) Len() int { return r.End.Len() }

// Row returns request i. Its Path points into the columns.
func (r *Requests) Row(i int) Request {
	return Request{Subject: r.Subject.At(i), Clock: r.Clock.At(i), Route: r.Route.At(i), Lane: r.Lane.At(i), Thread: r.Thread.At(i),
		Intended: r.Intended.At(i), Start: r.Start.At(i), End: r.End.At(i), Outcome: r.Outcome.At(i), Path: r.Path(i), Handling: r.Handling.At(i), Step: r.Step.At(i), Key: r.Key.At(i), Origin: r.Origin.At(i)}
}

// Path returns the states of request i, nil where unknown.
func (r *Requests) Path(i int) Path {
	var from int64
	if i > 0 {
		from = r.pathEnd.At(i - 1)
	}
	return r.paths.slicePath(from, r.pathEnd.At(i))
}

// SetPaths gives requests states that were learnt later, from other evidence. It calls path for each row; nil keeps the row's path. It
// drops a path longer than 1 MiB, and the request then has no states.
func (r *Requests) SetPaths(path func(i int) Path) {
	var paths pathStore
	var ends Column[int64]
	for i := range r.Len() {
		p := path(i)
		if p == nil {
			p = r.Path(i)
		}
		ends.Append(paths.addPath(p))
	}
	r.paths, r.pathEnd = paths, ends
}

// Latency returns the latency of request i in ns.
func (r *Requests) Latency(i int) int64 {
	if r.Intended.At(i) != 0 {
		return r.End.At(i) - r.Intended.At(i)
	}
	return r.End.At(i) - r.Start.At(i)
}

// Begins returns when the path of request i begins (ns): its start or, if only the client recorded it, the intended time of sending.
func (r *Requests) Begins(i int) int64 {
	if at := r.Start.At(i); at != 0 {
		return at
	}
	return r.Intended.At(i)
}

// Timed reports whether request i has a latency: it has none without a beginning, or if it ends before it begins.
func (r *Requests) Timed(i int) bool {
	return (r.Intended.At(i) != 0 || r.Start.At(i) != 0) && r.Latency(i) >= 0
}

func (r *Requests) addRow(q *Request) RequestID {
	r.Subject.Append(q.Subject)
	r.Clock.Append(q.Clock)
	r.Route.Append(q.Route)
	r.Lane.Append(q.Lane)
	r.Thread.Append(q.Thread)
	r.Intended.Append(q.Intended)
	r.Start.Append(q.Start)
	r.End.Append(q.End)
	r.Outcome.Append(q.Outcome)
	r.Handling.Append(q.Handling)
	r.Step.Append(q.Step)
	r.Key.Append(q.Key)
	r.Origin.Append(q.Origin)
	r.pathEnd.Append(r.paths.addPath(q.Path))
	return RequestID(r.Len())
}

// clone returns a table of the same rows whose columns can change while r stays as it is; both share the paths.
func (r *Requests) clone() Requests {
	return Requests{
		Subject: r.Subject.Clone(), Clock: r.Clock.Clone(), Route: r.Route.Clone(), Lane: r.Lane.Clone(), Thread: r.Thread.Clone(),
		Intended: r.Intended.Clone(), Start: r.Start.Clone(), End: r.End.Clone(), Outcome: r.Outcome.Clone(),
		Handling: r.Handling.Clone(), Step: r.Step.Clone(), Key: r.Key.Clone(), Origin: r.Origin.Clone(), pathEnd: r.pathEnd.Clone(), paths: r.paths,
	}
}

// pathStore keeps paths in blocks, so that growing never copies them: the paths of a 500 MB trace take some 50 MB.
type pathStore struct {
	blocks [][]byte
	size   int64
}

const pathBlock = 1 << 20

// addPath stores p completely within one block and returns the end position. A rest of a block that is too short for p is padding, which
// slicePath skips.
func (s *pathStore) addPath(p Path) int64 {
	if len(p) == 0 || len(p) > pathBlock { // builders bound a path: see Builder.Request
		return s.size
	}
	if free := (int64(len(s.blocks))*pathBlock - s.size); free < int64(len(p)) {
		s.size = int64(len(s.blocks)) * pathBlock
		s.blocks = append(s.blocks, make([]byte, 0, pathBlock))
	}
	last := len(s.blocks) - 1
	s.blocks[last] = append(s.blocks[last], p...)
	s.size += int64(len(p))
	return s.size
}

func (s *pathStore) slicePath(from, to int64) Path {
	if from == to {
		return nil
	}
	block := (to - 1) / pathBlock
	from = max(from, block*pathBlock) // a path never crosses a block: the rest was padding
	return Path(s.blocks[block][from-block*pathBlock : to-block*pathBlock])
}
