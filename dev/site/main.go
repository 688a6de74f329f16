// Command site writes the documents as they are read on a site: those of docs/, and a page for
// each cause, runtime and format, made of the code; and the configuration of mkdocs with the
// theme Material (https://squidfunk.github.io/mkdocs-material/), which makes a site of them.
//
//	go run ./dev/site -o out/site                  the pages and mkdocs.yml
//	go run ./dev/site -finish out/site/site -worker iframe-worker.js
//	                                               a site that was built: it gets a script of its own that it would load from
//	                                               elsewhere, and may load nothing else from there
//
// Its opinion: docs/ is what is written and stays readable as it is; what is generated is
// nowhere kept. A site must open from a disk, search included, and ask nobody.
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
			return finish(*site, *worker)
		}
		return write(".", *out)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}
