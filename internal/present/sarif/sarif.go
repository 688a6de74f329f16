// Package sarif renders a diagnosis for what reads the results of static analysis, such as code scanning of a forge
// (SARIF 2.1.0, https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html): each supported cause is a result, and
// what was read is where it was found.
package sarif

import (
	"io"
	"strings"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/diagnose/check/all"
	"github.com/unstall/unstall/internal/present/json"
	"github.com/unstall/unstall/internal/present/sentence"
)

type log struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []run  `json:"runs"`
}

type run struct {
	Tool    tool     `json:"tool"`
	Results []result `json:"results"`
}

type tool struct {
	Driver driver `json:"driver"`
}

type driver struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Rules   []rule `json:"rules"`
}

type rule struct {
	ID    string `json:"id"`
	Short text   `json:"shortDescription"`
	Full  text   `json:"fullDescription"`
}

type text struct {
	Text string `json:"text"`
}

type result struct {
	RuleID    string         `json:"ruleId"`
	Level     string         `json:"level"`
	Message   text           `json:"message"`
	Locations []location     `json:"locations"`
	Values    map[string]any `json:"properties,omitempty"`
}

type location struct {
	Physical physical `json:"physicalLocation"`
}

type physical struct {
	Artifact artifact `json:"artifactLocation"`
}

type artifact struct {
	URI string `json:"uri"`
}

// Report renders a diagnosis.
func Report(w io.Writer, d *diagnose.Diagnosis) error {
	r := run{Tool: tool{driver{Name: "unstall", Version: d.ToolVersion, Rules: []rule{}}}, Results: []result{}}
	supported, _, _ := sentence.Split(d)
	supported = sentence.Once(supported)
	at := make([]location, 0, 1)
	if len(d.Sources) > 0 {
		at = append(at, location{physical{artifact{d.Sources[0].Name}}})
	}
	told := make(map[string]bool)
	for i := range supported {
		v := &supported[i]
		for _, k := range all.Causes {
			if k.ID == v.Cause && !told[k.ID] {
				told[k.ID] = true
				r.Tool.Driver.Rules = append(r.Tool.Driver.Rules, rule{k.ID, text{k.Title}, text{k.Doc}})
			}
		}
		x := result{RuleID: v.Cause, Level: "error", Message: text{sentence.Answer(d, v) + "\n" + strings.Join(sentence.Proof(v), "\n")}, Locations: at}
		if v.Saves != nil {
			x.Values = map[string]any{"saves_ms": v.Saves.Value}
		}
		if sentence.RootOfFirst(d, v) { // one chain is one error
			x.Level = "note"
		}
		if v.Root != nil {
			x.Message.Text += "\n" + sentence.Chain(v)
		}
		r.Results = append(r.Results, x)
	}
	return json.Encode(w, log{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []run{r}})
}
