package watch

import (
	"context"
	"sync"

	"github.com/unstall/unstall/internal/operate/watch/notify"
)

// notifyHooks queues alarms, their end and their diagnoses for the receivers.
func (w *Watcher) notifyHooks(x Line, text []byte) {
	switch x.Event {
	case EventAlarm, EventResolved, EventDiagnosis:
	default:
		return
	}
	if x.Severity == "note" {
		return // a note is only for readers of the log
	}
	e := notify.Event{Kind: x.Event, Text: x.Text, Time: x.Time, Since: x.Since, Host: w.hostName, Target: x.Target, Service: x.Service, Rule: x.Rule, Severity: x.Severity, Look: x.Look, Cause: x.Cause, Capture: x.Capture, Line: text}
	for _, h := range w.opt.Hooks {
		h.Tell(e)
	}
}

// startHooks starts to send what is queued for the receivers.
func (w *Watcher) startHooks(ctx context.Context, all *sync.WaitGroup) {
	for _, h := range w.opt.Hooks {
		what := "webhook " + h.Form.Name + " " + h.Where
		all.Go(func() {
			h.Run(ctx, func(text string) { w.reportTrouble(what, what+" "+text) }, func(text string) { w.reportRecovery(what, what+" "+text) })
		})
	}
}
