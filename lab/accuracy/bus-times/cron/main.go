// Command cron is a partner who fetches all stops every seven seconds, all at once.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

func main() {
	if os.Getenv("FAULT") == "0" {
		for {
			time.Sleep(time.Hour)
		}
	}
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 500
	for range time.Tick(7 * time.Second) {
		var all sync.WaitGroup
		for n := range 900 {
			all.Go(func() {
				response, err := http.Get(fmt.Sprintf("http://%s/stop/%d", os.Getenv("ADDR_SERVICE"), n))
				if err == nil {
					io.Copy(io.Discard, response.Body)
					response.Body.Close()
				}
			})
		}
		all.Wait()
	}
}
