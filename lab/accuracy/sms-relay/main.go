// Command sms-relay hands short messages to a network that refuses now and then; then it
// waits a little longer each time and tries again.
package main

import (
	"errors"
	"fmt"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"sync/atomic"
	"time"
)

var (
	errBusy = errors.New("network busy")
	n       atomic.Int64
)

func main() {
	http.HandleFunc("POST /sms/{to}", func(w http.ResponseWriter, r *http.Request) {
		if err := sendWithRetry(r.PathValue("to")); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintln(w, "sent")
	})
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

func sendWithRetry(to string) (err error) {
	number := n.Add(1)
	for attempt := range 5 {
		if err = send(number, attempt); err == nil {
			return nil
		}
		time.Sleep(40 * time.Millisecond << attempt)
	}
	return fmt.Errorf("to %s: %w", to, err)
}

// send refuses four of ten messages at first, and some of these again.
func send(number int64, attempt int) error {
	if os.Getenv("FAULT") != "0" && number%10 < 4-int64(attempt)*2 {
		return errBusy
	}
	return nil
}
