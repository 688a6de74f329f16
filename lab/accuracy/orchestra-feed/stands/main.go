// Command stands holds 80 streams over one connection of HTTP/2, and opens each again
// when it ends.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

func main() {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	client := http.Client{Transport: transport}
	for n := range 80 {
		go func() {
			for {
				response, err := client.Get(fmt.Sprintf("http://%s/stand/viola-%d", os.Getenv("ADDR_SERVICE"), n))
				if err == nil {
					io.Copy(io.Discard, response.Body)
					response.Body.Close()
				}
				time.Sleep(200 * time.Millisecond)
			}
		}()
	}
	select {}
}
