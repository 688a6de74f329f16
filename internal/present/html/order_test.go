package html

import (
	"bytes"
	"strings"
	"testing"
)

// questions are the marks of a report's sections in the order in which a reader asks: what is wrong and what to change, how many requests, why,
// where the time went, whose requests, what threads and the collector did, when, and what else was looked at.
var questions = []struct {
	mark   string
	always bool // in each report on requests with a cause
}{
	{`aria-label="The answer"`, true}, {`<dl class="facts">`, true}, {`id="cause-0-1"`, true}, {`id="where-0"`, true}, {`id="through-0"`, false}, {`id="routes-0"`, true},
	{`id="collected-0"`, false}, {`id="timeline-0"`, true}, {`id="request-0"`, true}, {`id="processors-0"`, false}, {`id="flames-0"`, true},
	{`id="ruled-out-0"`, true}, {`id="not-seen-0"`, false}, {`id="warnings-0"`, false}, {`id="sources-0"`, true},
}

// The sections of a page come in the order of a reader's questions, of a sick service and of a healthy one.
func TestOrderOfSections(t *testing.T) {
	for _, name := range []string{"sick", "fixed"} {
		d := diagnosis(t, name)
		var b bytes.Buffer
		if err := (Options{}).Report(&b, d); err != nil {
			t.Fatal(err)
		}
		page, last := b.String(), -1
		for _, q := range questions {
			at := strings.Index(page, q.mark)
			if at < 0 {
				if q.always && name == "sick" {
					t.Errorf("%s: the page has no %s", name, q.mark)
				}
				continue
			}
			if at < last {
				t.Errorf("%s: %s comes before the section that answers an earlier question", name, q.mark)
			}
			last = at
		}
	}
}
