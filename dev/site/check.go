package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// loads are the attributes that make a browser fetch something.
var loads = map[string]string{"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src", "embed": "src", "object": "data", "link": "href"}

// fetched matches the addresses that a style sheet fetches.
var fetched = regexp.MustCompile(`(?:url\(\s*["']?|@import\s+["'])((?:https?:)?//[^"')\s]+)`)

// shim is the script that the theme loads from elsewhere so that search works from a disk.
const shim = "https://unpkg.com/iframe-worker/shim"

// finishSite puts the shim into the site and checks the site.
func finishSite(site, worker string) error {
	text, err := os.ReadFile(worker)
	if err != nil {
		return err
	}
	const own = "assets/javascripts/iframe-worker.js"
	if err := writeFile(filepath.Join(site, own), string(text)); err != nil {
		return err
	}
	err = filepath.WalkDir(site, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(name) != ".html" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		to, err := filepath.Rel(filepath.Dir(name), filepath.Join(site, own))
		if err != nil {
			return err
		}
		return os.WriteFile(name, []byte(strings.ReplaceAll(string(text), shim, filepath.ToSlash(to))), 0o644)
	})
	if err != nil {
		return err
	}
	return checkSite(site)
}

// checkSite returns an error that names the pages of a site that load something from elsewhere.
func checkSite(site string) error {
	var errs []error
	pages := 0
	err := filepath.WalkDir(site, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		switch filepath.Ext(name) {
		case ".html":
			pages++
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			defer f.Close()
			tree, err := html.Parse(f)
			if err != nil {
				return err
			}
			for n := range tree.Descendants() {
				for _, a := range n.Attr {
					if loads[n.Data] == a.Key && isExternal(a.Val) && !(n.Data == "link" && passiveRelation(n) != "") {
						errs = append(errs, fmt.Errorf("%s: <%s %s=%q> loads something from elsewhere", name, n.Data, a.Key, a.Val))
					}
				}
			}
		case ".css":
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			for _, m := range fetched.FindAllStringSubmatch(string(text), -1) {
				errs = append(errs, fmt.Errorf("%s: loads %s", name, m[1]))
			}
		}
		return nil
	})
	if err == nil && pages == 0 {
		err = fmt.Errorf("%s: there are no pages", site)
	}
	return errors.Join(append(errs, err)...)
}

func isExternal(to string) bool {
	return strings.HasPrefix(to, "http://") || strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "//")
}

// passiveRelation returns the relation of a link in a page's head for which a browser fetches
// nothing, "" for other links.
func passiveRelation(n *html.Node) string {
	for _, a := range n.Attr {
		if a.Key == "rel" && (a.Val == "canonical" || a.Val == "prev" || a.Val == "next") {
			return a.Val
		}
	}
	return ""
}
