package diagnose

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/unstall/unstall/internal/analyze/model"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// Schema is the version of the JSON form of a Diagnosis. Fields are added,
// never renamed; readers ignore keys they do not know; unknown is null, never 0.
const Schema = "unstall.diagnosis/v1"

// Diagnosis is the answer: where the slow time went and which causes hold. The
// reports render it and nothing else.
type Diagnosis struct {
	Schema      string `json:"schema"`
	ToolVersion string `json:"tool_version"`
	Window      Window `json:"window"`
	// Worst says that what was diagnosed is the worst stretch of long evidence; left out where it is all of it.
	Worst *Worst `json:"worst_stretch,omitempty"`
	// Stretches are those that something is found in by themselves, where more is found over all of it.
	Stretches []Stretch  `json:"stretches,omitempty"`
	Targets   []Target   `json:"targets"`
	Coverage  []Coverage `json:"coverage"`
	Outcome   string     `json:"outcome"`   // "found" | "nothing_found" | "not_explained" | "not_judged"
	RankedBy  string     `json:"ranked_by"` // "request_time" | "stopped_time"
	// AtRequests is how many threads were at requests in the mean, where nothing else is known
	// of these and nothing is found; left out otherwise.
	AtRequests *float64 `json:"threads_at_requests,omitempty"`
	// AtRequestsDid is what they did for most of that time, if it was one thing.
	AtRequestsDid []Doing `json:"threads_at_requests_did,omitempty"`
	// Unasked says that a process was recorded which may serve requests, and that next to none were seen.
	Unasked bool `json:"no_requests_seen,omitempty"`
	// Host is what the evidence shows of the host, where it is of no process that could be judged.
	Host []Evidence `json:"host,omitempty"`
	// Given are the first figures of evidence that nothing is judged by; left out where something is.
	Given []Given `json:"given,omitempty"`

	Requests   *Requests `json:"requests"`
	Loads      []Load    `json:"loads"`            // what load generators measured from outside
	Routes     []Route   `json:"routes,omitempty"` // those first that lost most to slow requests; left out where requests have no routes
	RoutesLeft int       `json:"routes_left_out,omitempty"`
	Busiest    *Busiest  `json:"busiest_route,omitempty"` // left out where a cause is found, where requests have no routes, or where little of them was observed
	Ledger     []Entry   `json:"ledger"`                  // in order of slow_ms; sums to slow_total_ms
	// Collectors are those of the processes that were watched; left out where none was.
	Collectors []Collector  `json:"collectors,omitempty"`
	Through    *RequestPath `json:"through,omitempty"` // left out where no requests were followed through a pool of workers
	Verdicts   []Verdict    `json:"verdicts"`          // supported by rank, then inconclusive, then ruled out
	Warnings   []Warning    `json:"warnings"`
	NotSeen    []NotSeen    `json:"not_seen"`
	Sources    []Source     `json:"sources"`
	// Dashboard shows the same time in Grafana; left out if its address is not given.
	Dashboard string `json:"dashboard,omitempty"`
	// File is the name of the evidence in the commands that a report prints, or the names of a few files; "" where it is many, or none.
	File string `json:"-"`

	kept *kept
}

// Window is the time the evidence spans, null where no clock is anchored.
type Window struct {
	Start    *time.Time `json:"start"`
	End      *time.Time `json:"end"`
	Duration *float64   `json:"duration_s"` // known even where the wall clock is not
}

// Worst is what there is beside the stretch that a diagnosis is of.
type Worst struct {
	Window  Window  `json:"of"`      // all of the evidence
	Outcome string  `json:"outcome"` // of all of it
	From    float64 `json:"from_s"`  // where the stretch begins, from the beginning of the evidence
	Until   float64 `json:"until_s"`
	Closely bool    `json:"closely"` // it is the part that processes were looked at closely in: what was before was only watched
}

// Stretch is a part of long evidence that most of something bad lies in, and what is first in that alone.
type Stretch struct {
	Window  Window   `json:"window"`
	From    float64  `json:"from_s"` // from the beginning of the evidence
	Until   float64  `json:"until_s"`
	Cause   string   `json:"cause"`
	Subject string   `json:"subject"`
	Title   string   `json:"title"`
	Of      *float64 `json:"share"`        // of its slow time; null where that is not known
	Again   bool     `json:"found_in_all"` // the cause is one of all the evidence, too: this is when most of it was
}

// Target is a subject as reports head it.
type Target struct {
	ID        string `json:"id"` // what other parts call it: "go process", "gateway pid 4711"
	Kind      string `json:"kind"`
	PID       *int   `json:"pid"`
	Name      string `json:"name"`
	Runtime   string `json:"runtime"`
	Version   string `json:"version"`
	CPUs      *int   `json:"cpus"`
	Container string `json:"container"`
	MemLimit  *int64 `json:"memory_limit_bytes"`

	// In is what the container is called, left out where no engine told.
	In *Container `json:"in,omitempty"`
}

// Container is one as its engine knows it; what that does not say is left out.
type Container struct {
	Engine    string            `json:"engine,omitempty"` // "docker", "podman", "containerd", "cri-o", "crun", "runc"
	Name      string            `json:"name,omitempty"`
	Image     string            `json:"image,omitempty"`
	Pod       string            `json:"pod,omitempty"`
	Namespace string            `json:"namespace,omitempty"`
	Node      string            `json:"node,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
}

// Doing is what threads did for a part of the time.
type Doing struct {
	What  string  `json:"what"` // "running in Network.Costs"
	Share float64 `json:"share"`
}

// Source is an artifact and what it was read as.
type Source struct {
	Name      string   `json:"name"`
	Series    string   `json:"series"` // shared by the pieces of one recording, "" on its own
	Formats   []string `json:"formats"`
	Envelopes []string `json:"envelopes"`
	Cut       bool     `json:"cut"`
}

// Coverage is what was watched. Times are null where the clock is not anchored.
type Coverage struct {
	Subject string     `json:"subject"`
	Kind    string     `json:"kind"`
	From    *time.Time `json:"from"`
	Until   *time.Time `json:"until"`
	Seconds float64    `json:"seconds"`
	Lost    int64      `json:"lost"`
}

// Requests is what is known of the requests, null in a Diagnosis without any.
type Requests struct {
	Source          string   `json:"source"`          // the artifact the figures are from
	Files           []string `json:"files,omitempty"` // all artifacts that have them, where there are several, as of load generators that run at the same time
	LedgerSource    string   `json:"ledger_source"`   // the one whose slow requests the ledger charges
	Count           int      `json:"count"`
	LedgerCount     int      `json:"ledger_count"` // of those in it
	Unfinished      int      `json:"unfinished"`
	Failed          int      `json:"failed"`                       // answered with an error, or not at all
	FailedStatus    int      `json:"failed_status,omitempty"`      // of HTTP: what most of them were answered with; left out where it is unknown
	SilentS         float64  `json:"unanswered_s,omitempty"`       // the time at the end in which none of several requests was answered; left out where there is none
	FailedWith      int      `json:"failed_with_status,omitempty"` // how many were answered with it
	Slow            int      `json:"slow"`
	Traced          int      `json:"traced"`             // slow ones whose states are known
	Alike           int      `json:"slow_like_traced"`   // slow ones that traced ones like them speak for
	Outside         int      `json:"slow_outside_trace"` // others that were slow while nothing was traced, where these are nearly all
	SlowThresholdMs *float64 `json:"slow_threshold_ms"`  // null where each route has its own
	SlowRule        string   `json:"slow_rule"`          // "slo" | "3x_route_floor" | "baseline" | "unfinished" | "timed_out"
	SlowTotalMs     float64  `json:"slow_total_ms"`
	SlowLong        int      `json:"slow_long_routes"` // slow ones to routes that always compute for so long, and are held to the others' floor
	Held            int      `json:"held_by_recorder"` // others that took longer only because of what recorded them
	HeldMs          float64  `json:"held_by_recorder_ms"`
	Apart           int      `json:"slow_not_recorded"` // others that were answered before anything else was recorded, or sent after
	Rate            *float64 `json:"rate"`              // per second
	Onset           *Onset   `json:"slow_since"`        // null where none was slow
	P50Ms           *float64 `json:"p50_ms"`
	P99Ms           *float64 `json:"p99_ms"`
	P999Ms          *float64 `json:"p999_ms"`
	// Joined tells in how many sources the requests were found again, from the outside in; left out where only one source has them.
	Joined []Joined `json:"joined,omitempty"`
}

// Joined is how many requests of one source were found among those of another that saw them from further outside.
type Joined struct {
	Subject string   `json:"subject"`
	Source  string   `json:"source"`  // the one further inside; of several traces the first
	From    string   `json:"seen_by"` // "trace" | "runtime" | "spans" | "log" | "kernel" | "proxy"
	Count   int      `json:"count"`   // its requests in the time that both tell of
	Found   int      `json:"found"`
	In      string   `json:"in"`              // the one further outside; of several load generators the first
	InFrom  string   `json:"in_seen_by"`      // "spans" | "log" | "kernel" | "proxy" | "clients"
	Among   int      `json:"among"`           // its requests
	ByID    int      `json:"by_id"`           // of the found, by an id that both have
	Behind  *float64 `json:"clock_behind_ms"` // of the outer source; null: the clocks agree
}

// Load is the result of a load generator, as far as it reports one.
type Load struct {
	Source      string   `json:"source"`
	Tool        string   `json:"tool"`
	Mode        string   `json:"mode"`         // "open", "closed", ""
	LatencyFrom string   `json:"latency_from"` // "intended" | "send"
	Rate        *float64 `json:"rate"`         // completed, per second
	P50Ms       *float64 `json:"p50_ms"`
	P99Ms       *float64 `json:"p99_ms"`
	MaxMs       *float64 `json:"max_ms"`
	P95Ms       *float64 `json:"p95_ms,omitempty"` // left out where p99 is known
	Sent        int64    `json:"sent,omitempty"`
	Failed      int64    `json:"failed,omitempty"`    // answered with an error, or not at all
	TimedOut    int64    `json:"timed_out,omitempty"` // of the failed
}

// Entry is one line of the ledger: slow request time with one mechanism.
type Entry struct {
	Subject   string   `json:"subject"`
	Mechanism string   `json:"mechanism"` // closed list: package ledger
	Title     string   `json:"title"`     // the mechanism in words
	Detail    string   `json:"detail"`    // the dependency, lock or pool; "": nothing to add
	SlowMs    float64  `json:"slow_ms"`
	Low       *float64 `json:"low"`
	High      *float64 `json:"high"`
	Basis     *string  `json:"basis"`  // "sampling" | "bound" | null
	Method    string   `json:"method"` // trace, sampled, overlap, span, replay, share
}

// Verdict is the finding about one cause.
type Verdict struct {
	Cause      string       `json:"cause"`
	Subject    string       `json:"subject"`
	Step       check.Step   `json:"step"`    // its place in the order of the checks
	Verdict    string       `json:"verdict"` // supported | ruled_out | inconclusive
	Title      string       `json:"title"`   // one line: what happens
	Summary    string       `json:"summary"` // one short clause with the deciding figure, for lists: "0.4 ms"
	Saves      *Saves       `json:"saves_ms"`
	Evidence   []Evidence   `json:"evidence"`
	Needs      []Need       `json:"needs_commands"` // missing evidence that would tell more; also as sentences under "needs"
	Fix        []Fix        `json:"fix"`
	Prediction []Prediction `json:"prediction"`
	// Root is the verdict of this diagnosis in which the time of this one ends: both are one chain, and its fixes are among these.
	// Left out where there is none.
	Root *Link `json:"root,omitempty"`

	// Decision is how the verdict was reached: the policy's questions, with the figures compared for each. Left out by versions that
	// did not keep it.
	Decision *check.Decision `json:"decision,omitempty"`

	// Frontier is what memory would buy, where the fix is a size of the heap. It is not in the JSON form: unstall predict gives it.
	Frontier *model.Frontier `json:"-"`

	weight   float64
	standing bool
	spends   string // for a server that others wait for: what it spends the time on
	alone    string // its title before it was joined with another verdict's; "": it was not
}

// Link refers to another verdict.
type Link struct {
	Cause   string `json:"cause"`
	Subject string `json:"subject"`
}

// IsSupported reports whether the cause is found.
func (v *Verdict) IsSupported() bool { return v.Verdict == check.Supported }

// Strength orders the states of verdicts: 0 ruled out, 1 left open, 2 supported; −1 any other.
func Strength(state string) int {
	return slices.Index([]string{check.RuledOut, check.Inconclusive, check.Supported}, state)
}

// MarshalJSON writes a verdict's needs twice: as sentences under "needs", and by their parts under "needs_commands", where an unknown
// command is null.
func (v Verdict) MarshalJSON() ([]byte, error) {
	type parts struct {
		What    string  `json:"what"`
		Command *string `json:"command"`
	}
	type verdict Verdict
	out := struct {
		verdict
		Needs []string `json:"needs"`
		Parts []parts  `json:"needs_commands"`
	}{verdict(v), []string{}, []parts{}}
	for _, n := range v.Needs {
		p := parts{What: n.What}
		if n.Command != "" {
			p.Command = &n.Command
		}
		out.Needs, out.Parts = append(out.Needs, n.String()), append(out.Parts, p)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the caller's encoder may escape
	err := e.Encode(out)
	return b.Bytes(), err
}

// UnmarshalJSON reads both forms. Before needs_commands existed there were only sentences: their commands are unknown.
func (v *Verdict) UnmarshalJSON(text []byte) error {
	type verdict Verdict
	in := struct {
		*verdict
		Sentences []string `json:"needs"`
	}{verdict: (*verdict)(v)}
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	if len(v.Needs) == 0 {
		for _, s := range in.Sentences {
			v.Needs = append(v.Needs, Need{What: s})
		}
	}
	return nil
}

// The parts of verdicts are package check's.
type (
	Need       = check.Need
	Saves      = check.Saves
	Evidence   = check.Evidence
	Fix        = check.Fix
	Prediction = check.Prediction
)

// Warning is something that a user should know beside the result.
type Warning struct {
	Text   string `json:"text"`
	Count  int64  `json:"count"`
	Origin string `json:"origin"`
}

// NotSeen is something that could not be recorded, whichever cause it matters to.
type NotSeen struct {
	What string `json:"what"`
	Why  string `json:"why"`
	Do   string `json:"do"` // a command that would make it visible, "" none
}
