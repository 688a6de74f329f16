package service

import (
	"fmt"
	"strings"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/base/units"
	"github.com/unstall/unstall/internal/diagnose/check"
)

// hasStatements says whether a program's own log of its statements is all that is known of its requests.
func hasStatements(c *check.Case) bool {
	_, told := c.Fact(evidence.FactStatementsInTurn)
	return told && c.Ledger == nil
}

// judgeStatements judges by a program's own log of its statements: many of one shape follow each other and take a second and more together, however long each of
// them takes: one statement for all would take the way there and back once.
func judgeStatements(c *check.Case) check.Verdict {
	n, _ := c.Fact(evidence.FactStatementsInTurn)
	all, _ := c.Fact(evidence.FactStatementsInTurnTime)
	what := "statements of one shape"
	if n.Value == "" {
		what = "statements of one session"
	}
	v := check.Verdict{Rule: check.TooLittle, Summary: fmt.Sprintf("%.0f %s one after the other, %s together", n.Number, what, units.Time(all.Number))}
	v.Weigh(n.Number, manyCalls)
	v.Weigh(all.Number, aSecond)
	v.Evidence = append(v.Evidence, c.Figure("statements.in_turn", "statements that followed each other, at most", n.Number, "count", n.Origin),
		c.Figure("statements.in_turn_ms", "time of all of them", all.Number/1e6, "ms", all.Origin))
	if n.Number < manyCalls.Value || all.Number < aSecond.Value {
		v.Rule, v.Needs = check.TooFew, []check.Need{{What: "requests from the same time, to show what the statements cost them: an access log with durations"}}
		return v
	}
	v.Rule, v.Weight = check.StandsAlone, 1
	v.Title = fmt.Sprintf("%.0f %s follow each other and take %s together (%s each): a request probably asks for one row after the other.", n.Number, what, units.Time(all.Number), units.Time(all.Number/n.Number))
	v.Fix = []check.Fix{{Text: "ask for all of them at once: a join, a list of ids (IN), eager loading in the object mapper, or a cache for what repeats", Code: n.Value}}
	v.Needs = []check.Need{{What: "requests from the same time, to show what the statements cost them: an access log with durations"}}
	return v
}

// resetsConnection says whether a statement only puts a connection in order, as pools do when they give it out or take it back.
func resetsConnection(operation string) bool {
	verb, _, _ := strings.Cut(operation, " ")
	return verb == "RESET" || verb == "DISCARD" || verb == "DEALLOCATE" || verb == "UNLISTEN" || verb == "SET" || verb == "SHOW"
}
