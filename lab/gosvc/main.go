// Gosvc is a small HTTP service that can have, one at a time, the causes other than
// GC that make Go services slow. Every mode has a healthy twin that answers the
// same requests.
//
//	gosvc -mode lock -sick       one mutex around the work of every request
//	gosvc -mode refresh -sick    readers wait for a writer that holds the lock long
//	gosvc -mode leak -sick       goroutines that wait forever to hand over a late answer
//	gosvc -mode call -via tcp    asks a dependency for each request
//	gosvc -mode pool -sick       two connections to a database
//	gosvc -mode compute          nothing but CPU
//	gosvc -mode retry -sick      sleeps before it tries again what has failed
//	gosvc -mode search -sick     a tenth of the items are 40 times the work
//	gosvc -mode gate -sick       lets in four connections at a time
//	gosvc -mode chatty -sick     asks a dependency forty times for each request
//	gosvc -mode blocks           decodes each item into fresh memory, four parts side by side
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/unstall/unstall/lab/service"
)

// options are the flags of modes.
type options struct {
	sick       bool
	work       time.Duration // CPU for each request
	dependency string
	via        string
	limit      func(connections int)
}

// modes return the handler of the only route, /item/.
var modes = map[string]func(options) (http.HandlerFunc, error){
	"lock":    lock,
	"refresh": refresh,
	"leak":    leak,
	"call":    call,
	"pool":    pool,
	"compute": compute,
	"retry":   retry,
	"search":  search,
	"blocks":  blocks,
	"gate":    gate,
	"chatty":  chatty,
}

func main() {
	s := service.New()
	var o options
	mode := flag.String("mode", "compute", "one of "+strings.Join(modeNames(), ", "))
	flag.BoolVar(&o.sick, "sick", false, "with the fault, not its healthy twin")
	flag.DurationVar(&o.work, "work", time.Millisecond, "CPU time that a request takes on this machine when it is quiet")
	flag.StringVar(&o.dependency, "dependency", "", "host:port of what call, leak and pool ask")
	flag.StringVar(&o.via, "via", "tcp", "how: call: http or tcp; pool: sql or semaphore")
	flag.Parse()

	make, ok := modes[*mode]
	if !ok {
		exitWithError(fmt.Errorf("-mode %s: not a mode; use one of %s", *mode, strings.Join(modeNames(), ", ")))
	}
	o.limit = s.Limit
	handler, err := make(o)
	if err != nil {
		exitWithError(fmt.Errorf("-mode %s: %w", *mode, err))
	}
	s.Handle("/item/", handler)
	s.Run()
}

func modeNames() (all []string) {
	for name := range modes {
		all = append(all, name)
	}
	sort.Strings(all)
	return all
}

func exitWithError(err error) {
	fmt.Fprintln(os.Stderr, "gosvc:", err)
	os.Exit(2)
}
