package journey

import (
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/andybalholm/cascadia"

	"github.com/unstall/unstall/internal/collect/load/page"
)

// user is one who goes through a journey.
type user struct {
	r       *runner
	journey *Journey
	web     *session
	values  values
	random  *rand.Rand
	wake    chan struct{}
	before  *answer // the page that a step reads which follows a link or submits a form
}

func newUser(r *runner, n uint64, j *Journey) *user {
	random := rand.New(rand.NewPCG(r.script.Seed, n))
	return &user{r: r, journey: j, web: newSession(r), random: random, values: values{script: r.script, user: n, random: random}, wake: make(chan struct{}, 1)}
}

// runJourney takes the steps; the first is due at the arrival.
func (u *user) runJourney(due int64) {
	ended := left
	for i, step := range u.journey.Steps {
		end, ok := u.takeStep(step, due)
		if u.r.over.Load() {
			ended = cutOff
			break
		}
		if !ok && !step.goOn {
			break
		}
		if i == len(u.journey.Steps)-1 {
			ended = finished
			break
		}
		due = end + u.thinkTime(step.think)
		if !u.r.sleepUntil(u, due) {
			ended = cutOff
			break
		}
	}
	u.web.close()
	u.r.removeUser(u, ended)
}

func (u *user) thinkTime(t think) int64 {
	if t.most <= t.least {
		return int64(t.least)
	}
	return int64(t.least) + u.random.Int64N(int64(t.most-t.least)+1)
}

// takeStep makes a request, with redirects and resources, and returns when it ended and whether it
// is as it must be.
func (u *user) takeStep(step *Step, due int64) (end int64, ok bool) {
	done := stepEnd{step: step, lag: max(u.r.nowNanos()-due, 0)}
	c, problem := u.buildRequest(step, due)
	u.before = nil
	if problem != "" {
		u.r.countProblem(step, problem)
		done.end, done.failed = u.r.nowNanos(), true
		u.r.addStepEnd(done, due)
		return done.end, false
	}
	a := u.web.followRedirects(u.r.ctx, c)
	done.answered = a.end
	end = a.end
	var doc *page.Document
	if a.err == nil && (step.readsPage() || step.needs) {
		doc = u.r.parsePage(a)
	}
	switch {
	case a.err != nil:
		done.failed = true
	default:
		problem := step.checkAnswer(a, doc, time.Duration(a.end-due), &u.values)
		if problem == "" {
			problem = step.takeValues(a, doc, u.web.jar, &u.values)
		}
		if problem != "" {
			u.r.countProblem(step, problem)
			done.failed = true
		}
		if step.browser.resources && isPage(a) {
			end = u.web.fetchResources(u.r.ctx, a, step, c.header)
		}
		if step.needs {
			u.before = &a
		}
	}
	done.end = end
	u.r.addStepEnd(done, due)
	return end, !done.failed
}

// readsPage reports whether a step looks into its page.
func (s *Step) readsPage() bool {
	if len(s.checks.selects) > 0 {
		return true
	}
	for _, t := range s.take {
		if t.sel != nil {
			return true
		}
	}
	return false
}

// needsBody reports whether the body of a step's answer is needed.
func (s *Step) needsBody() bool {
	return s.browser.resources || s.needs || len(s.take) > 0 || len(s.checks.contains)+len(s.checks.lacks)+len(s.checks.selects)+len(s.checks.json) > 0
}

// buildRequest returns the request of a step, or the problem that prevents it.
func (u *user) buildRequest(step *Step, due int64) (c call, problem string) {
	c = call{method: step.method, header: http.Header{}, due: due, of: &step.browser, step: step, keep: step.needsBody()}
	c.header.Set("Accept", acceptsPage)
	var data []pair
	switch step.by {
	case requests:
		text := u.values.fillTemplate(step.target)
		to, err := url.Parse(text)
		if err == nil && !to.IsAbs() {
			var base *url.URL
			if base, err = url.Parse(u.values.fillTemplate(step.base)); err == nil {
				to = base.ResolveReference(to)
			}
		}
		if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
			return c, "its URL is not one that can be requested"
		}
		c.url = to
		for _, f := range step.form {
			data = append(data, pair{f.name, u.values.fillTemplate(f.value)})
		}
		if step.body != nil {
			c.body = []byte(u.values.fillTemplate(step.body))
		}
	default:
		doc, sel, text, problem := u.previousPage(step)
		if problem != "" {
			return c, problem
		}
		if step.by == follows {
			c.url, problem = step.chooseLink(doc, sel, text, u.random)
		} else {
			c.method, c.url, data, problem = step.fillForm(doc, sel, text, &u.values)
		}
		if problem != "" {
			return c, problem
		}
		c.header.Set("Referer", refererOf(doc.URL, c.url))
	}
	if c.url.Path == "" {
		at := *c.url
		at.Path = "/"
		c.url = &at
	}
	if step.isForm || step.by == submits {
		if c.method == http.MethodGet || c.method == http.MethodHead {
			at := *c.url
			at.RawQuery = strings.Trim(at.RawQuery+"&"+encodeForm(data), "&")
			if step.by == submits { // the form's data takes the place of the query
				at.RawQuery = encodeForm(data)
			}
			c.url = &at
		} else {
			c.body = []byte(encodeForm(data))
			c.header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
	}
	if c.method == http.MethodPost {
		c.header.Set("Origin", c.url.Scheme+"://"+c.url.Host)
	}
	said := map[string]bool{}
	for _, f := range step.header {
		name := http.CanonicalHeaderKey(f.name)
		if !said[name] {
			c.header.Del(name)
			said[name] = true
		}
		c.header.Add(name, u.values.fillTemplate(f.value))
	}
	return c, ""
}

// previousPage returns the page of the step before, and the selector of what a step asks for in
// it.
func (u *user) previousPage(step *Step) (*page.Document, cascadia.SelectorGroup, string, string) {
	text := u.values.fillTemplate(step.target)
	sel, err := cascadia.ParseGroup(text)
	if err != nil {
		return nil, nil, "", "its selector is none"
	}
	if u.before == nil {
		return nil, nil, "", "no page comes before it"
	}
	doc := u.r.parsePage(*u.before)
	if doc == nil {
		return nil, nil, "", "the answer before it is not HTML"
	}
	return doc, sel, text, ""
}
