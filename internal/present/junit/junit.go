// Package junit renders a diagnosis or a comparison as the results of tests, which every CI shows: a cause is a test that
// fails where it is supported, passes where it is ruled out, and is skipped where it could not be judged. The form is what
// Jenkins and others read (https://github.com/testmoapp/junitxml).
package junit

import (
	"encoding/xml"
	"io"
	"strings"

	"github.com/unstall/unstall/internal/diagnose"
	"github.com/unstall/unstall/internal/present/sentence"
)

type suites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []suite  `xml:"testsuite"`
}

type suite struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Cases    []test `xml:"testcase"`
}

type test struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Failure *problem `xml:"failure,omitempty"`
	Skipped *problem `xml:"skipped,omitempty"`
	Output  string   `xml:"system-out,omitempty"`
}

type problem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Report renders a diagnosis.
func Report(w io.Writer, d *diagnose.Diagnosis) error {
	s := suite{Name: "unstall: " + sentence.State(d)}
	for i := range d.Verdicts {
		v := &d.Verdicts[i]
		c := test{Class: "unstall", Name: v.Cause}
		if v.Subject != "" {
			c.Class += "." + strings.ReplaceAll(v.Subject, ".", "_")
		}
		switch v.Verdict {
		case "supported":
			text := sentence.Answer(d, v) + "\n" + strings.Join(sentence.Proof(v), "\n")
			if chain := sentence.Chain(v); chain != "" {
				text += "\n" + chain
			}
			c.Failure = &problem{v.Title, text}
		case "inconclusive":
			c.Skipped = &problem{Message: v.Summary}
		}
		s.addCase(c)
	}
	if d.Outcome == diagnose.NotExplained { // slow, and no test of a cause fails
		s.addCase(test{Class: "unstall", Name: "explained", Failure: &problem{sentence.State(d), sentence.Brief(d)}})
	}
	return writeXML(w, s)
}

// addCase adds a case and counts it.
func (s *suite) addCase(c test) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
}

func writeXML(w io.Writer, s suite) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(suites{Suites: []suite{s}}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
