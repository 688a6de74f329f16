package journey

import (
	"regexp"
	"time"

	"github.com/andybalholm/cascadia"

	"github.com/unstall/unstall/internal/collect/load"
	"github.com/unstall/unstall/internal/collect/load/page"
)

// Script is a file of journeys, checked.
type Script struct {
	Name      string
	Base      string // what paths are relative to, of the first step
	Seed      uint64
	View      page.Viewport
	Scenarios []*Scenario
	Journeys  []*Journey

	vars map[string]*variable
}

// Scenario is users who arrive and choose a journey.
type Scenario struct {
	Name     string
	Arrivals load.Pattern
	Random   load.Arrivals
	Choices  []Choice
}

// Choice is a journey and how often it is chosen, against the others' weights.
type Choice struct {
	Journey *Journey
	Weight  float64
}

// Journey is what a user does.
type Journey struct {
	Name  string
	Steps []*Step // as they are taken: repeated ones several times
	Named []*Step // each once

	at int // in Script.Journeys
}

// Step is a request with all that belongs to it.
type Step struct {
	Name string

	method  string
	base    template
	target  template // URL, path, or selector
	by      verb
	choose  string // of several links: first, random
	header  []field
	body    template
	form    []field
	isForm  bool
	think   think
	checks  checks
	take    []take
	goOn    bool // also when it failed
	browser settings

	line    int
	at      int  // in Script.steps
	needs   bool // the step after it reads its page
	journey *Journey
}

// verb is how a step finds its URL.
type verb uint8

const (
	requests verb = iota
	follows       // a link of the page before
	submits       // a form of the page before
)

// settings are what a browser is like; a step has its own copy.
type settings struct {
	resources   bool
	redirects   bool
	cache       bool
	protocol    string // "", "1.1", "2"
	connections int
	insecure    bool
	timeout     time.Duration
}

type field struct {
	name  string
	value template
}

// think is the time between two steps.
type think struct{ least, most time.Duration }

// checks are what an answer must be like.
type checks struct {
	status   []statusRange // none: 200 to 399
	contains []template
	lacks    []template
	selects  []selector
	json     []jsonPath
	below    time.Duration
}

type statusRange struct{ from, to int }

type selector struct {
	text string
	sel  cascadia.SelectorGroup
}

// take is a value that is taken from an answer.
type take struct {
	name     string
	sel      *selector
	attr     string // of the element; "": its text
	json     *jsonPath
	regexp   *regexp.Regexp
	header   string
	cookie   string
	random   bool    // of several, else the first
	fallback *string // where there is none
	line     int
}

// Plan is what stands for the script where a plan of requests is asked for: where to, and when.
func (s *Script) Plan() load.Plan {
	p := load.Plan{URL: s.Base, Mode: load.Open, Seed: s.Seed, Timeout: s.longestTimeout()}
	for _, c := range s.Scenarios {
		if p.Pattern.Duration() < c.Arrivals.Duration() {
			p.Pattern = c.Arrivals
		}
		p.Arrivals = c.Random
	}
	return p
}

// longestTimeout returns the longest timeout of any step.
func (s *Script) longestTimeout() (most time.Duration) {
	for _, j := range s.Journeys {
		for _, step := range j.Steps {
			most = max(most, step.browser.timeout)
		}
	}
	return most
}
