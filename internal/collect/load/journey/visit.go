package journey

import (
	"bytes"
	"cmp"
	"context"
	"hash/maphash"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/unstall/unstall/internal/collect/load/page"
)

const (
	mostRedirects = 20 // as Chromium
	deepestFrame  = 4
	mostResources = 2000 // of one page
)

// followRedirects makes a request and follows its redirects as a browser does: 301, 302 and 303
// become a GET, 307 and 308 stay what they are
// (https://fetch.spec.whatwg.org/#http-redirect-fetch).
func (s *session) followRedirects(ctx context.Context, c call) answer {
	for hop := 0; ; hop++ {
		a := s.fetchCall(ctx, &c)
		if a.err != nil || !c.of.redirects || a.status < 300 || a.status > 399 || hop == mostRedirects {
			return a
		}
		to, err := c.url.Parse(a.header.Get("Location"))
		if a.header.Get("Location") == "" || err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
			return a
		}
		switch a.status {
		case http.StatusMovedPermanently, http.StatusFound:
			if c.method == http.MethodPost {
				c.becomesGet()
			}
		case http.StatusSeeOther:
			if c.method != http.MethodHead {
				c.becomesGet()
			}
		case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		default:
			return a
		}
		if to.Host != c.url.Host {
			c.header = c.header.Clone()
			c.header.Del("Authorization")
			c.header.Del("Host")
		}
		if to.Path == "" {
			to.Path = "/"
		}
		c.url, c.due = to, a.end
	}
}

func (c *call) becomesGet() {
	c.method, c.body = http.MethodGet, nil
	c.header = c.header.Clone()
	c.header.Del("Content-Type")
	c.header.Del("Content-Length")
	c.header.Del("Origin")
}

// isPage says whether an answer is a page, with resources of its own.
func isPage(a answer) bool {
	kind, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	return a.err == nil && (kind == "text/html" || kind == "application/xhtml+xml")
}

// cached is a resource in a session's cache.
type cached struct {
	until    int64 // ns: fresh until then, without a request
	tag      string
	modified string
	sheet    *page.Sheet // of a stylesheet
	at       *url.URL    // its final URL
}

const mostCached = 1000 // of one user

// fetching gets the resources of a page, each as soon as it is known, as many at a time as a user has connections. It ends when all have come.
type fetching struct {
	s    *session
	ctx  context.Context
	of   *settings
	step *Step

	common http.Header // that the step says

	all   sync.WaitGroup
	mu    sync.Mutex
	count int
	last  int64 // ns: when the last one ended
}

// fetchResources gets a page's resources and returns when the last one ended, ns.
func (s *session) fetchResources(ctx context.Context, a answer, step *Step, common http.Header) int64 {
	f := &fetching{s: s, ctx: ctx, of: &step.browser, step: step, common: common, last: a.end}
	f.fetchPage(a, 0)
	f.all.Wait()
	return f.last
}

// fetchPage starts a page's requests.
func (f *fetching) fetchPage(a answer, depth int) {
	doc := f.s.r.parsePage(a)
	if doc == nil {
		return
	}
	v := &visiting{f: f, visit: doc.Visit(), depth: depth, at: a.url}
	v.startFetches(v.visit.Preload(a.header.Values("Link")), a.end)
	v.startFetches(v.visit.Resources(), a.end)
}

// visiting is one of the fetched pages; a frame is one, too.
type visiting struct {
	f     *fetching
	visit *page.Visit
	depth int
	at    *url.URL
	mu    sync.Mutex
}

func (v *visiting) startFetches(all []page.Resource, due int64) {
	f := v.f
	for _, r := range all {
		if r.Kind == page.Frame && v.depth >= deepestFrame {
			continue
		}
		if r.Kind == page.Icon && (v.depth > 0 || !f.s.firstIcon(r.URL)) {
			continue
		}
		f.mu.Lock()
		f.count++
		enough := f.count > mostResources
		f.mu.Unlock()
		if enough {
			return
		}
		f.all.Add(1)
		go func() {
			defer f.all.Done()
			v.fetchResource(r, due)
		}()
	}
}

// firstIcon says whether a browser that has seen the site before would ask for its icon.
func (s *session) firstIcon(u *url.URL) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.icons == nil {
		s.icons = map[string]bool{}
	}
	key := u.String()
	if s.icons[key] {
		return false
	}
	s.icons[key] = true
	return true
}

// accepts are a browser's Accept headers.
var accepts = map[page.Kind]string{
	page.Image: "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8", page.Icon: "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8",
	page.Style: "text/css,*/*;q=0.1", page.Frame: acceptsPage,
}

const acceptsPage = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"

// fetchResource gets one resource, and what it requests in turn.
func (v *visiting) fetchResource(r page.Resource, due int64) {
	f := v.f
	c := call{method: http.MethodGet, url: r.URL, header: http.Header{"Referer": {refererOf(v.at, r.URL)}}, due: due, of: f.of, step: f.step,
		keep: r.Kind == page.Style || r.Kind == page.Frame}
	if c.header.Get("Referer") == "" {
		c.header.Del("Referer")
	}
	for name, all := range f.common { // headers for every request, but not those about the page itself
		switch name {
		case "Content-Type", "Content-Length", "Host", "Accept", "Origin", "Referer", "X-Requested-With":
		default:
			c.header[name] = all
		}
	}
	if accept := accepts[r.Kind]; accept != "" {
		c.header.Set("Accept", accept)
	}
	if r.Kind == page.Media {
		c.header.Set("Range", "bytes=0-")
	}
	key := r.URL.String()
	kept := f.s.cachedEntry(key)
	if kept != nil && f.of.cache {
		if due < kept.until {
			v.startSheet(kept, r, due)
			return
		}
		if kept.tag != "" {
			c.header.Set("If-None-Match", kept.tag)
		}
		if kept.modified != "" {
			c.header.Set("If-Modified-Since", kept.modified)
		}
	}
	a := f.s.followRedirects(f.ctx, c)
	f.mu.Lock()
	f.last = max(f.last, a.end)
	f.mu.Unlock()
	if a.err != nil {
		return
	}
	if a.status == http.StatusNotModified && kept != nil {
		kept = &cached{sheet: kept.sheet, at: kept.at, tag: cmp.Or(a.header.Get("ETag"), kept.tag), modified: cmp.Or(a.header.Get("Last-Modified"), kept.modified)}
	} else {
		kept = &cached{tag: a.header.Get("ETag"), modified: a.header.Get("Last-Modified"), at: a.url}
		if r.Kind == page.Style && a.status < 400 {
			kept.sheet = f.s.r.parseSheet(a.body)
		}
		if r.Kind == page.Frame && isPage(a) {
			f.fetchPage(a, v.depth+1)
			return
		}
	}
	v.startSheet(kept, r, a.end)
	if f.of.cache && (a.status == http.StatusOK || a.status == http.StatusNotModified) {
		if lasts, ok := freshnessLifetime(a.header, f.s.r.timeAt(a.end)); ok {
			kept.until = a.end + int64(lasts)
			f.s.cacheEntry(key, kept)
		}
	}
}

// startSheet starts what a stylesheet requests.
func (v *visiting) startSheet(k *cached, r page.Resource, due int64) {
	if k.sheet == nil {
		return
	}
	v.mu.Lock()
	more := v.visit.Sheet(k.sheet, k.at, r)
	v.mu.Unlock()
	v.startFetches(more, due)
}

func (s *session) cachedEntry(key string) *cached {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cache[key]
}

func (s *session) cacheEntry(key string, c *cached) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cache == nil {
		s.cache = map[string]*cached{}
	}
	if len(s.cache) < mostCached || s.cache[key] != nil {
		s.cache[key] = c
	}
}

// freshnessLifetime returns how long an answer may be used without asking (RFC 9111, 4.2); false
// if it is not to be kept, or there is nothing to ask with.
func freshnessLifetime(h http.Header, now time.Time) (time.Duration, bool) {
	var lasts time.Duration
	said := false
	for item := range strings.SplitSeq(strings.ToLower(h.Get("Cache-Control")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(item), "=")
		switch name {
		case "no-store":
			return 0, false
		case "no-cache":
			said, lasts = true, 0
		case "max-age":
			if n, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 32); err == nil && !said {
				said, lasts = true, time.Duration(n)*time.Second
			}
		}
	}
	if h.Get("Vary") == "*" {
		return 0, false
	}
	date := now
	if t, err := http.ParseTime(h.Get("Date")); err == nil {
		date = t
	}
	if t, err := http.ParseTime(h.Get("Expires")); err == nil && !said {
		said, lasts = true, t.Sub(date)
	}
	if t, err := http.ParseTime(h.Get("Last-Modified")); err == nil && !said && h.Get("Expires") == "" {
		lasts = date.Sub(t) / 10 // 4.2.2: what browsers take where nothing is said
	}
	if n, err := strconv.ParseInt(h.Get("Age"), 10, 32); err == nil {
		lasts -= time.Duration(n) * time.Second
	}
	lasts = max(lasts, 0)
	return lasts, lasts > 0 || h.Get("ETag") != "" || h.Get("Last-Modified") != ""
}

// refererOf returns the Referer header that a browser sends (strict-origin-when-cross-origin), ""
// for none.
func refererOf(from, to *url.URL) string {
	if from.Scheme == "https" && to.Scheme != "https" {
		return ""
	}
	u := *from
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	if from.Scheme != to.Scheme || from.Host != to.Host {
		u = url.URL{Scheme: from.Scheme, Host: from.Host, Path: "/"}
	}
	return u.String()
}

// pages are recently parsed pages, because a site sends the same page to many users. Parsing is most of a page's cost for the generator.
type pages struct {
	seed maphash.Seed
	mu   sync.Mutex
	size int
	of   map[uint64]*parsedPage
	turn []uint64 // in order of use, roughly
}

type parsedPage struct {
	at    string
	body  []byte
	doc   *page.Document
	sheet *page.Sheet
}

const mostParsed = 2 << 20 // bytes of pages whose parsed form is kept, which takes some ten times as much

func (p *pages) getOrParse(kind byte, at string, body []byte, parse func() *parsedPage) *parsedPage {
	var h maphash.Hash
	h.SetSeed(p.seed)
	_ = h.WriteByte(kind)
	_, _ = h.WriteString(at)
	_, _ = h.Write(body)
	key := h.Sum64()
	p.mu.Lock()
	known := p.of[key]
	p.mu.Unlock()
	if known != nil && known.at == at && bytes.Equal(known.body, body) {
		return known
	}
	x := parse()
	if x == nil || len(body) > mostParsed/8 {
		return x
	}
	x.at, x.body = at, body
	p.mu.Lock()
	defer p.mu.Unlock()
	if old := p.of[key]; old == nil {
		p.turn = append(p.turn, key)
		p.size += len(body)
	} else {
		p.size += len(body) - len(old.body)
	}
	p.of[key] = x
	for p.size > mostParsed && len(p.turn) > 1 {
		p.size -= len(p.of[p.turn[0]].body)
		delete(p.of, p.turn[0])
		p.turn = slices.Delete(p.turn, 0, 1)
	}
	return x
}

// parsePage returns an answer as a page, nil if it is none.
func (r *runner) parsePage(a answer) *page.Document {
	if !isPage(a) {
		return nil
	}
	x := r.pages.getOrParse('p', a.url.String(), a.body, func() *parsedPage {
		doc, err := page.Parse(a.body, a.url, r.script.View)
		if err != nil {
			return nil
		}
		return &parsedPage{doc: doc}
	})
	if x == nil {
		return nil
	}
	return x.doc
}

func (r *runner) parseSheet(body []byte) *page.Sheet {
	return r.pages.getOrParse('s', "", body, func() *parsedPage { return &parsedPage{sheet: page.ParseSheet(body)} }).sheet
}
