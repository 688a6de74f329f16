package journey

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// site is one with resources, redirects, cookies and a login form; it remembers who asked for what.
type site struct {
	*httptest.Server
	images *httptest.Server // another host of it

	mu   sync.Mutex
	log  []hit
	wait func(path string) time.Duration
}

// hit is a request as the site saw it.
type hit struct {
	what   string // method, host if it is the other one, path and query
	cookie string
	begin  time.Time
	took   time.Duration
}

func newSite(t testing.TB) *site {
	s := &site{wait: func(string) time.Duration { return 0 }}
	s.images = httptest.NewServer(s.logged("images:", http.HandlerFunc(s.image)))
	t.Cleanup(s.images.Close)
	s.Server = httptest.NewServer(s.logged("", s.routes()))
	t.Cleanup(s.Server.Close)
	return s
}

func (s *site) logged(prefix string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		if d := s.wait(r.URL.Path); d > 0 {
			time.Sleep(d)
		}
		h.ServeHTTP(w, r)
		var cookie string
		if c, err := r.Cookie("session"); err == nil {
			cookie = c.Value
		}
		s.mu.Lock()
		s.log = append(s.log, hit{r.Method + " " + prefix + r.URL.RequestURI(), cookie, begin, time.Since(begin)})
		s.mu.Unlock()
	})
}

// hits are how often each was asked for.
func (s *site) hits() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int{}
	for _, h := range s.log {
		out[h.what]++
	}
	return out
}

func (s *site) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = nil
}

// dot is an image of one pixel: GIF89a.
var dot = []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x00\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")

func (s *site) image(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "image/gif")
	switch {
	case strings.Contains(r.URL.Path, "kept"):
		w.Header().Set("Cache-Control", "max-age=600")
	case strings.Contains(r.URL.Path, "asked"):
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	default:
		w.Header().Set("Cache-Control", "no-store")
	}
	w.Write(dot)
}

const loginPage = `<!doctype html><title>login</title><link rel=icon href=/icon.png>
<img src=/kept.gif><img src=/asked.gif>
<form id=login action=/session method=post><input type=hidden name=csrf value="%s">
<input name=user><input type=password name=password><select name=lang><option>de<option selected>en</select>
<input type=checkbox name=stay checked><input type=checkbox name=news><button>go</button></form>`

func (s *site) routes() http.Handler {
	m := http.NewServeMux()
	html := func(w http.ResponseWriter, format string, args ...any) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, format, args...)
	}
	m.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "session", Value: fmt.Sprint("s", time.Now().UnixNano()), Path: "/"})
		http.Redirect(w, r, "/moved", http.StatusFound)
	})
	m.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/home", http.StatusMovedPermanently)
	})
	m.HandleFunc("/home", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</linked.css>; rel=preload; as=style")
		html(w, "%s", strings.NewReplacer("IMAGES", s.images.URL).Replace(homePage))
	})
	m.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		if c, err := r.Cookie("session"); err == nil {
			html(w, loginPage, "token-of-"+c.Value)
			return
		}
		http.Error(w, "no session", http.StatusForbidden)
	})
	m.HandleFunc("POST /session", func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie("session")
		if err != nil || r.PostFormValue("csrf") != "token-of-"+c.Value || r.PostFormValue("password") != "secret" || r.PostFormValue("lang") != "en" ||
			r.PostFormValue("stay") != "on" || r.PostForm.Has("news") {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "user", Value: url.QueryEscape(r.PostFormValue("user")), Path: "/"})
		http.Redirect(w, r, "/account", http.StatusSeeOther)
	})
	m.HandleFunc("/account", func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie("user")
		if err != nil {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		html(w, `<!doctype html><title>account</title><link rel=icon href=/icon.png><h1>hello %s</h1><img src=/kept.gif><img src=/asked.gif><img src=/new.gif><a href=/offers>more</a>
<form id=again action=/twice method=post><input name=q value=1><button>go</button></form>`, c.Value)
	})
	m.HandleFunc("/twice", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/once", http.StatusTemporaryRedirect)
	})
	m.HandleFunc("/once", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.PostFormValue("q") != "1" {
			http.Error(w, "lost on the way", http.StatusBadRequest)
			return
		}
		html(w, `<!doctype html><link rel=icon href=/icon.png><p class=done>done`)
	})
	m.HandleFunc("/items", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"items":[{"id":7,"name":"tea"},{"id":8,"name":"cup"}]}`)
	})
	m.HandleFunc("/item/{id}", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "item %s", r.PathValue("id")) })
	for path, css := range styles {
		m.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/css")
			w.Header().Set("Cache-Control", "no-store")
			fmt.Fprint(w, css)
		})
	}
	m.HandleFunc("/script/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, "fetch('/by-a-script')")
	})
	m.HandleFunc("/frame/", func(w http.ResponseWriter, r *http.Request) {
		html(w, `<!doctype html><link rel=icon href=/icon.png><body background=/frame.gif><img src="in-%s.gif">`, strings.TrimPrefix(r.URL.Path, "/frame/"))
	})
	m.HandleFunc("/font/", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "font/woff2") })
	m.HandleFunc("/", s.image)
	return m
}

// homePage has one of each that a browser requests, and what it does not.
const homePage = `<!doctype html>
<html><head><title>home</title>
<meta charset=utf-8>
<link rel="shortcut icon" href="/icon.png">
<link rel=stylesheet href=/main.css>
<link rel=stylesheet href=/print.css media=print>
<link rel=stylesheet href=/not-css.css type=text/x-other>
<link rel=stylesheet href=/disabled.css disabled>
<link rel="alternate stylesheet" href=/alternate.css title=other>
<link rel=preload as=image href=/preloaded.gif>
<link rel=preload as=image href=/preloaded-print.gif media=print>
<link rel=preload as=nonsense href=/preloaded-nonsense>
<link rel=canonical href=/canonical>
<style>@import "/imported.css"; @import url(/imported-print.css) print;
 .used { background: url("/style-used.gif") } .unused { background: url("/style-unused.gif") }
 @media (max-width: 600px) { body { background: url(/style-narrow.gif) } }
 @media (min-width: 600px) { body { background: url(/style-wide.gif) } }
 @media print { p { background: url(/style-print.gif) } }
 p:hover { background: url(/style-hover.gif) }
 p.before::before { content: url(/style-before.gif) }
 li { list-style-image: url(/style-list.gif) }
 body div.set { background-image: image-set(url(/set-1x.gif) 1x, url(/set-2x.gif) 2x) }
</style>
<script src=/script/a.js></script>
<script src=/script/module.js type=module></script>
<script src=/script/old.js nomodule></script>
<script src=/script/template.html type=text/template></script>
</head><body>
<noscript><img src=/noscript.gif></noscript>
<template><img src=/template.gif></template>
<!-- <img src=/comment.gif> -->
<p class=used>text<p class=before>more<ul><li>one</ul><div class=set>set</div>
<img src=/plain.gif><img src=/plain.gif><img src="/with%20blank.gif"><img src="/a b.gif">
<img src=/fallback.gif srcset="/one.gif 1x, /two.gif 2x">
<img src=/fallback-w.gif srcset="/w300.gif 300w, /w700.gif 700w, /w1400.gif 1400w" sizes="(min-width: 900px) 700px, 100vw">
<img srcset="/v500.gif 500w, /v1000.gif 1000w" sizes="calc(50vw - 100px)" src=/v.gif>
<picture><source media="(max-width: 500px)" srcset=/picture-narrow.gif><source type=image/unknown srcset=/picture-unknown.xx>
<source media="(min-width: 501px)" srcset="/picture-wide.gif, /picture-wide2.gif 2x"><img src=/picture.gif></picture>
<picture><source type=image/unknown srcset=/picture2-unknown.xx><img src=/picture2.gif></picture>
<img src=IMAGES/other.gif><img src=data:image/gif;base64,R0lGODlhAQABAAAAACw=>
<img src=/lazy.gif loading=lazy width=10 height=10>
<div style="background-image: url('/inline.gif')">x</div>
<input type=image src=/button.gif><input type=text src=/no-button.gif>
<table background=/table.gif><tr><td background=/cell.gif>x</table>
<iframe src=/frame/one></iframe><iframe srcdoc="<img src=/srcdoc.gif>"></iframe><iframe src="about:blank"></iframe>
<video poster=/poster.gif></video><video preload=none src=/never.mp4></video>
<embed src=/embedded.gif type=image/gif><object data=/object.gif type=image/gif></object>
<svg width=10 height=10><image href="/svg-image.gif" width=1 height=1 /><use href="#local"/></svg>
<a href=/offers>offers</a><a id=login href=/login>login</a>
<base href=/elsewhere/>
</body></html>`

var styles = map[string]string{
	"/main.css": `@charset "utf-8"; @import 'second.css'; /* url(/comment.gif) */ h9 { background: url(/main-unused.gif) }
 @font-face { font-family: Used; src: local("none such"), url(/font/used.woff2) format("woff2") }
 @font-face { font-family: Unused; src: url(/font/unused.woff2) }
 @font-face { font-family: Used; src: url(/font/greek.woff2); unicode-range: U+370-3FF }
 p { font: 12px/1.5 Used, sans-serif; border-image: url(images/border.gif) }`,
	"/second.css": `body > p.used { cursor: url(/cursor.gif), auto } @supports (display: grid) { p { mask-image: url(/mask.gif) } }`,
	"/print.css":  `body { background: url(/of-print.gif) }`, "/imported.css": `ul { background: url(/of-imported.gif) } div.set { background: url(/loses.gif) }`,
	"/imported-print.css": ``, "/alternate.css": ``, "/linked.css": ``, "/disabled.css": ``, "/not-css.css": ``,
}
