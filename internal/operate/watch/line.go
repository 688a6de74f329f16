package watch

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/operate/watch/notify"
	"github.com/unstall/unstall/internal/operate/watch/replay"
	"github.com/unstall/unstall/internal/operate/watch/rule"
)

// Schema is the version of the lines: fields are added, never renamed; unknown is left out.
const Schema = "unstall.event/v1"

// Events of lines.
const (
	EventStarted   = "started"   // the watcher started
	EventStopped   = "stopped"   // the watcher stopped
	EventFound     = "found"     // a target was found
	EventGone      = "gone"      // a target is gone
	EventAlarm     = "alarm"     // a rule began to hold
	EventResolved  = "resolved"  // the rule no longer holds
	EventDiagnosis = "diagnosis" // the result of an alarm's capture
	EventTrouble   = "trouble"   // something keeps the watcher from its work
	EventSummary   = "summary"   // the summary of a day
)

// Line is what happened, as one line of JSON.
type Line struct {
	Schema   string    `json:"schema"`
	Time     time.Time `json:"time"`
	Event    string    `json:"event"`
	Text     string    `json:"text"` // for people, one line
	Target   string    `json:"target,omitempty"`
	Service  string    `json:"service,omitempty"`
	PID      int       `json:"pid,omitempty"`
	Runtime  string    `json:"runtime,omitempty"`
	Version  string    `json:"version,omitempty"`         // of the runtime
	Release  string    `json:"service_version,omitempty"` // of the service, as its own people count
	Rule     string    `json:"rule,omitempty"`
	Severity string    `json:"severity,omitempty"`
	Series   string    `json:"series,omitempty"`
	Unit     string    `json:"unit,omitempty"`
	Value    *float64  `json:"value,omitempty"`
	Bound    *float64  `json:"bound,omitempty"`
	Usual    *float64  `json:"usual,omitempty"`
	Since    time.Time `json:"since,omitzero"`
	Look     string    `json:"look,omitempty"`
	Causes   []string  `json:"causes,omitempty"` // that the rule may stand for

	Capture   string    `json:"capture,omitempty"`
	From      time.Time `json:"from,omitzero"` // of the capture
	Until     time.Time `json:"until,omitzero"`
	Outcome   string    `json:"outcome,omitempty"`     // of the diagnosis
	Cause     string    `json:"cause,omitempty"`       // the first that is supported
	SavesMs   *float64  `json:"saves_ms,omitempty"`    // what it accounts for
	SlowMs    *float64  `json:"slow_ms,omitempty"`     // all slow time
	Supported []string  `json:"supported,omitempty"`   // all causes that are
	Before    float64   `json:"before_s,omitempty"`    // how much of the capture lies before the alarm
	Services  []Service `json:"services,omitempty"`    // of a summary
	LostWrite int64     `json:"lost_points,omitempty"` // that no store took
}

// TestEvent is what a webhook is sent to see whether messages arrive: an alarm of a rule named test.
func TestEvent(host string, now time.Time) notify.Event {
	const text = "this is a test of unstall watch: messages about alarms arrive here"
	line, _ := json.Marshal(Line{Schema: Schema, Time: now.UTC(), Event: EventAlarm, Text: text, Rule: "test", Severity: "warn"}) // cannot fail: it has only texts and times
	return notify.Event{Kind: EventAlarm, Text: text, Time: now, Since: now, Host: host, Target: "unstall watch", Service: "unstall", Rule: "test", Severity: "warn", Line: line}
}

// log writes lines. It is safe for concurrent use.
type log struct {
	mu   sync.Mutex
	to   io.Writer
	now  func() time.Time
	also func(x Line, text []byte) // called with each line; may be nil
}

func (l *log) writeLine(x Line) {
	x.Schema = Schema
	if x.Time.IsZero() {
		x.Time = l.now()
	}
	x.Time = x.Time.UTC()
	l.mu.Lock()
	defer l.mu.Unlock()
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if e.Encode(x) != nil {
		return // cannot happen: a line has only figures and texts
	}
	_, _ = l.to.Write(text.Bytes()) // on an error the reader may have gone; the watch continues
	if l.also != nil {
		l.also(x, text.Bytes())
	}
}

// ofEvent returns the line about a rule that began or stopped to hold.
func ofEvent(ev rule.Event) Line {
	a := replay.AlarmOf(ev)
	x := Line{Event: EventAlarm, Time: a.At, Target: a.Subject, Service: ev.Subject.Service, Rule: a.Rule, Severity: a.Severity, Series: a.Series, Unit: a.Unit, Since: a.Since,
		Bound: a.Bound, Usual: a.Usual, Causes: a.Causes, Look: a.Look}
	if !math.IsNaN(ev.Value) {
		x.Value = &a.Value
	}
	if ev.Fired {
		x.Text = a.Title + ": " + replay.Found(ev)
		return x
	}
	x.Event, x.Look, x.Causes = EventResolved, "", nil
	x.Text = "ended after " + time.Duration(ev.At-ev.Since).Round(time.Second).String() + ": " + a.Title
	if ev.Why != "" {
		x.Text += " (" + ev.Why + ")"
	}
	return x
}
