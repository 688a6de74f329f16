package sentence

import (
	"fmt"
	"strings"
	"time"

	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose"
)

// askForObjective is the advice where all requests take equally long, with what is found if that is too long.
func askForObjective(b *diagnose.Busiest) string {
	const asks = "Whether that is too long, only an objective tells: set --slo."
	if b == nil || b.IfTooLong == nil {
		return asks
	}
	return asks + " " + IfTooLong(b.IfTooLong)
}

// IfTooLong names the cause of an ordinary route's time: "If it is, service.waiting is 84 % of it: Slow requests wait for a timer. All about
// it: --slo 259ms."
func IfTooLong(x *diagnose.IfTooLong) string {
	title := strings.TrimSuffix(x.Title, ".") + "."
	if spent := ofSlow().FindStringSubmatch(title); spent != nil {
		title = withoutShare(title, spent)
	}
	return fmt.Sprintf("If it is, %s is %s of it: %s All about it: --slo %s.", x.Cause, units.Percent(*x.Share), title, ObjectiveOf(x))
}

// ObjectiveOf returns the objective it was found under as --slo takes it: "259ms".
func ObjectiveOf(x *diagnose.IfTooLong) string {
	return (time.Duration(*x.AboveMs) * time.Millisecond).String()
}

// describeBusiest returns a sentence, and a space, that says where most time of all requests went and what it was; "" where
// that is not known.
func describeBusiest(b *diagnose.Busiest) string {
	if b == nil || b.Share == nil || len(b.Parts) == 0 {
		return ""
	}
	var parts []string
	between := ", "
	for _, p := range b.Parts {
		what := p.Title
		if p.Detail != "" {
			what += ": " + p.Detail
		}
		what += " " + units.Percent(*p.Share)
		if len(parts) == 0 && b.Code != "" {
			what += ", most of it in " + b.Code
			between = "; "
		}
		parts = append(parts, what)
	}
	took := ""
	if b.P50Ms != nil {
		took = " (p50 " + units.Ms(*b.P50Ms) + ")"
	}
	return fmt.Sprintf("Of all requests' time %s is in %s%s: %s. ", units.Percent(*b.Share), b.Route, took, strings.Join(parts, between))
}
