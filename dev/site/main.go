// Command site writes the documents of a site: those of docs/, and a page for each cause, runtime
// and format, generated from the code. It also writes the configuration of mkdocs with the theme
// Material (https://squidfunk.github.io/mkdocs-material/), which builds the site.
//
//	go run ./dev/site -o out/site                  the pages and mkdocs.yml
//	go run ./dev/site -finish out/site/site -worker iframe-worker.js
//	                                               gives a built site its own copy of a script that it would load from
//	                                               elsewhere, and checks that it loads nothing else from there
//
// Its opinion: docs/ stays readable without the site, and generated pages are not stored. A site
// opens from a disk, search included, and loads nothing from elsewhere.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	out := flag.String("o", "out/site", "the folder to write into")
	site := flag.String("finish", "", "finish a site that was built instead")
	worker := flag.String("worker", "", "with -finish: iframe-worker's shim")
	flag.Parse()
	err := func() error {
		if *site != "" {
			return finishSite(*site, *worker)
		}
		return writeSite(".", *out)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}
