// Command phones are garages' telephones: each sends photos of broken panes to the desk, one after
// the other, over a slow network that takes -lasts for one.
package main

import (
	"bytes"
	"flag"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

func main() {
	phones := flag.Int("phones", 16, "telephones that send at a time")
	lasts := flag.Duration("lasts", 2500*time.Millisecond, "how long sending a photo takes")
	flag.Parse()
	for n := range *phones {
		go func() {
			time.Sleep(*lasts * time.Duration(n) / time.Duration(*phones))
			for {
				if err := send(*lasts); err != nil {
					log.Print(err)
					time.Sleep(*lasts)
				}
			}
		}()
	}
	select {}
}

// pieces is how many pieces a photo of 32 KiB is sent in.
const pieces = 16

func send(lasts time.Duration) error {
	r, w := io.Pipe()
	go func() {
		piece := bytes.Repeat([]byte{0xd8}, 2048)
		for range pieces {
			if _, err := w.Write(piece); err != nil {
				return // the desk has closed the connection
			}
			time.Sleep(lasts / pieces)
		}
		w.Close()
	}()
	defer r.Close()
	q, err := http.NewRequest(http.MethodPost, "http://"+os.Getenv("ADDR_FRONT")+"/photo", r)
	if err != nil {
		return err
	}
	q.ContentLength = pieces * 2048
	q.Header.Set("Content-Type", "image/jpeg")
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err
}
