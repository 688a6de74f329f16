// Command restful is the time clock of a hospital: go-restful, and punches in bbolt, a wage
// office over HTTP.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	restful "github.com/emicklei/go-restful/v3"
)

type clock struct {
	journal *journal
	wages   *http.Client
}

func fault(name string) bool { return os.Getenv("FAULT") == name }

func main() {
	j, err := openJournal("punches.db")
	if err != nil {
		log.Fatal(err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	if fault("conns-per-host") {
		transport.MaxConnsPerHost = 2
	}
	c := &clock{journal: j, wages: &http.Client{Transport: transport, Timeout: 20 * time.Second}}

	ws := new(restful.WebService)
	ws.Path("/staff").Produces(restful.MIME_JSON)
	ws.Route(ws.GET("/{id}").To(c.last))
	ws.Route(ws.POST("/{id}/punches").To(c.punch))
	ws.Route(ws.GET("/{id}/wages").To(c.wage))
	ws.Route(ws.GET("/{id}/messages").To(c.messages))
	restful.Add(ws)
	months := new(restful.WebService)
	months.Path("/months").Produces(restful.MIME_JSON)
	months.Route(months.GET("/{id}").To(c.month))
	restful.Add(months)
	log.Fatal(http.ListenAndServe(os.Getenv("ADDR"), restful.DefaultContainer))
}

func number(r *restful.Request) int {
	id, _ := strconv.Atoi(r.PathParameter("id")) // of what is no number nothing is kept
	return id
}

func reply(w *restful.Response, found any, err error) {
	if err != nil {
		_ = w.WriteErrorString(http.StatusInternalServerError, err.Error())
		return
	}
	if err := w.WriteAsJson(found); err != nil {
		log.Print(err)
	}
}

func (c *clock) punch(r *restful.Request, w *restful.Response) {
	at := time.Now()
	reply(w, at.Unix(), c.journal.add(number(r), at))
}

func (c *clock) last(r *restful.Request, w *restful.Response) {
	found, err := c.journal.last(number(r))
	reply(w, found, err)
}

func (c *clock) month(r *restful.Request, w *restful.Response) {
	found, err := c.journal.count()
	reply(w, map[string]int{"month": number(r), "staff": found}, err)
}

// wage asks the wage office what somebody has earned so far.
func (c *clock) wage(r *restful.Request, w *restful.Response) {
	response, err := c.wages.Get(fmt.Sprintf("http://%s/wages/%d", os.Getenv("ADDR_WAGES"), number(r)))
	if err != nil {
		reply(w, nil, err)
		return
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	reply(w, map[string]string{"wage": string(said)}, err)
}

// messages waits for a message to somebody, for at most six seconds.
func (c *clock) messages(r *restful.Request, w *restful.Response) {
	late := time.NewTimer(6 * time.Second)
	defer late.Stop()
	select {
	case <-late.C:
	case <-r.Request.Context().Done():
	}
	reply(w, []string{}, nil)
}
