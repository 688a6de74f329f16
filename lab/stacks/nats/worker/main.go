// Command worker makes labels for parcels: it takes jobs from NATS and asks the carrier for
// a number for each. A subscription calls its handler for one message after the other; the
// worker hands each to a goroutine. With the fault serial-worker it does not.
package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/nats-io/nats.go"
)

type label struct {
	Parcel string
	Number json.RawMessage
}

func main() {
	connection, err := nats.Connect("nats://"+os.Getenv("ADDR_BROKER"), nats.Name("labels"), nats.MaxReconnects(-1))
	if err != nil {
		log.Fatal(err)
	}
	carrier := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	answer := func(m *nats.Msg) {
		text, err := makeLabel(carrier, string(m.Data))
		if err != nil {
			log.Print(err)
			text = []byte(`{}`)
		}
		if err := m.Respond(text); err != nil {
			log.Print(err)
		}
	}
	handle := func(m *nats.Msg) { go answer(m) }
	if os.Getenv("FAULT") == "serial-worker" {
		handle = answer
	}
	if _, err := connection.QueueSubscribe("labels.make", "labels", handle); err != nil {
		log.Fatal(err)
	}
	if err := connection.Flush(); err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, connection.Status().String()) })
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), nil))
}

func makeLabel(carrier *http.Client, parcel string) ([]byte, error) {
	response, err := carrier.Get("http://" + os.Getenv("ADDR_CARRIER") + "/number/" + parcel)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	number, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(label{Parcel: parcel, Number: number})
}
