package page

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// requested is what a page at http://a/dir/page requests, paths only.
func requested(t testing.TB, html string) (out []string) {
	t.Helper()
	at, _ := url.Parse("http://a/dir/page")
	d, err := Parse([]byte(html), at, Desktop)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range d.Visit().Resources() {
		if s := strings.TrimPrefix(r.URL.String(), "http://a"); s != "/favicon.ico" {
			out = append(out, s)
		}
	}
	return out
}

func TestRequested(t *testing.T) {
	for _, c := range []struct{ html, want string }{
		{"<img src=a.gif><img src=/a.gif#x><img src=../b.gif?c=d>", "/dir/a.gif /a.gif /b.gif?c=d"},
		{"<img src=a.gif><img src=a.gif#again><img src=page><img src=''><img>", "/dir/a.gif"},
		{"<base href=//b/c/><base href=/no><img src=a.gif><link rel=icon href=i.png>", "http://b/c/a.gif http://b/c/i.png"},
		{"<img src='javascript:x'><img src='data:,'><img src='mailto:a@b'><img src='http:///'>", ""},
		{"<link rel='STYLESHEET icon' href=a.css>", "/dir/a.css"},
		{"<link rel=icon sizes=64x64 href=a><link rel=icon sizes='16x16 32x32' href=b><link rel=icon href=c>", "/dir/b"},
		{"<style>@media print{p{background:url(a)}} @font-face{font-family:'F';src:url(f.woff2)} body{font:12px F}</style>x", "/dir/f.woff2"},
		{"<style>a{background:url(a)}", ""},
		{"<style>p{background:url(a.gif);background:none}</style><p>", ""},
		{"<style>p{background:url( 'a\\).gif' )}</style><p>", "/dir/a).gif"},
		{"<p style='background:url(&quot;q.gif&quot;)'>", "/dir/q.gif"},
		{"<audio src=a.mp3></audio><video><source src=v.mp4><source src=w.webm></video>", "/dir/a.mp3 /dir/v.mp4"},
		{"<script type=importmap src=a></script><script src='b'></script><script>document.write('<img src=c>')</script>", "/dir/b"},
		{"<iframe src=f></iframe><iframe srcdoc='<img src=g>'></iframe>", "/dir/f /dir/g"},
		{strings.Repeat("<iframe srcdoc='", 50), ""},
	} {
		if got := strings.Join(requested(t, c.html), " "); got != c.want {
			t.Errorf("%s\n requests %s\n want     %s", c.html, got, c.want)
		}
	}
}

func TestPick(t *testing.T) {
	for _, c := range []struct{ set, src, sizes, want string }{
		{"", "s", "", "s"},
		{"a 1x, b 2x", "s", "", "a"},
		{"b 2x", "s", "", "s"},
		{"a, b 1.5x", "", "", "a"},
		{"a 0.5x, b 3x", "", "", "b"},
		{"a 300w, b 700w, c 1400w", "s", "(min-width: 900px) 700px, 100vw", "b"},
		{"a 300w, b 700w, c 1400w", "s", "(max-width: 900px) 700px, 100vw", "c"},
		{"a 300w, b 700w, c 1400w", "s", "", "c"},
		{"a 300w, b 700w, c 1400w", "s", "calc(25vw - 20px)", "a"},
		{"data:image/gif;base64,AA== 1x", "", "", "data:image/gif;base64,AA=="},
		{"a 1y, b", "s", "", "b"},
		{" , a 1x", "s", "", "a"},
	} {
		if got := pickCandidate(c.set, c.src, c.sizes, Desktop); got != c.want {
			t.Errorf("%s | %s | %s: %s, want %s", c.set, c.src, c.sizes, got, c.want)
		}
	}
}

func TestMatches(t *testing.T) {
	for query, want := range map[string]bool{
		"": true, "all": true, "screen": true, "print": false, "print, screen": true, "not print": true, "only screen and (min-width: 600px)": true,
		"(max-width: 600px)": false, "screen and (min-width:600px) and (max-width:2000px)": true, "(width >= 600px)": true, "(400px <= width <= 700px)": false,
		"(orientation: landscape)": true, "(prefers-color-scheme: dark)": false, "not (prefers-color-scheme: dark)": true, "(min-resolution: 2dppx)": false,
		"(-webkit-min-device-pixel-ratio: 2)": false, "(min-width: 40em) or (max-width: 10em)": true, "(unknown: 1)": false, "(hover)": true, "speech": false,
	} {
		if got := Matches(query, Desktop); got != want {
			t.Errorf("%q: %v", query, got)
		}
	}
}

func TestImports(t *testing.T) {
	s := ParseSheet([]byte(`@charset "x"; @import "a.css"; @import url(b.css) print; @import url("c.css") layer(x) screen; p{} @import "late.css"`))
	var got []string
	for _, i := range s.imports {
		got = append(got, i.ref+" "+i.media)
	}
	if want := []string{"a.css ", "b.css print", "c.css screen", "late.css "}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func FuzzPage(f *testing.F) {
	f.Add("<img srcset='a 1x, b 2x' sizes='(min-width: 1px) 2vw'><style>@import 'a' print;p{background:image-set(url(a) 1x)}</style><p style='x:url(a'>")
	f.Add("<link rel=preload as=image imagesrcset='a 1w' href=b media='(1px<width)'><iframe srcdoc='<base href=x>'>")
	f.Add("@font-face{font-family:a;src:url(b);unicode-range:U+0-7F}@media (min-width:calc(1px + 2px)){a::before{content:url(\\41 )}}/*")
	f.Fuzz(func(t *testing.T, text string) {
		at, _ := url.Parse("http://a/")
		sheet := ParseSheet([]byte(text))
		for _, html := range []string{text, "<p class=a>x" + text} {
			d, err := Parse([]byte(html), at, Desktop)
			if err != nil {
				continue
			}
			v := d.Visit()
			for _, r := range append(v.Resources(), v.Sheet(sheet, at, Resource{})...) {
				if r.URL == nil || r.URL.Host == "" || r.URL.Scheme != "http" && r.URL.Scheme != "https" {
					t.Fatalf("%+v", r)
				}
			}
			v.Preload([]string{text})
		}
	})
}
