package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/operate/compare"
)

// compareURLs runs unstall compare on two services.
func compareURLs(c *compareCommand, urls ...string) (code int, out, said string, err error) {
	var stdout, stderr bytes.Buffer
	s := &session{in: strings.NewReader(""), out: &stdout, err: &stderr}
	c.Runs, c.Color, c.Level, c.Timeout = urls, "never", .95, 5*time.Second
	err = c.Run(s)
	return s.code, stdout.String(), stderr.String(), err
}

func TestCompareServices(t *testing.T) {
	service := func(takes time.Duration) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Test") != "yes" || r.Method != http.MethodPost {
				http.Error(w, "not what was to be sent", http.StatusTeapot)
				return
			}
			time.Sleep(takes)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	// A median needs 20 requests or more. There are as many connections, so that their first requests suffice even
	// on a busy host. A request to the slow service takes longer than a block. The median of the fast service
	// exceeds a block only if no connection got a second response in it.
	fast, slow := service(0), service(300*time.Millisecond)
	c := &compareCommand{services: services{Connections: 24, Blocks: 6, For: 250 * time.Millisecond, Header: []string{"X-Test: yes"}, Body: "{}", Seed: 7}}
	c.Format = "json"
	code, out, said, err := compareURLs(c, fast, slow)
	if err != nil || code != found {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, said, out)
	}
	var result compare.Comparison
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatal(err)
	}
	if m, _ := result.Of("p50_ms"); m.Result != compare.Regressed || result.Pairs != 6 || *result.Seed != 7 || result.Before != fast || result.After != slow {
		t.Errorf("%s", out)
	}
	if strings.Count(said, "\n") != 1+2+12+1 || !strings.Contains(said, "\nexit 1: p50_ms") || !strings.Contains(said, "--seed 7") || !strings.Contains(said, "block 6 of 6: ") {
		t.Error(said)
	}

	// One block decides nothing, and does not fail the comparison.
	c = &compareCommand{services: services{Connections: 24, Blocks: 1, For: 50 * time.Millisecond, Header: []string{"X-Test: yes"}, Body: "{}"}}
	if code, out, _, err := compareURLs(c, fast, slow); err != nil || code != 0 || !strings.Contains(out, "1 pair of runs, at least 6 needed") || !strings.Contains(out, "unclear") {
		t.Errorf("exit code %d, %v\n%s", code, err, out)
	}
}

func TestCompareServicesThatAreNotThere(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	gone := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	gone.Close()
	rate := 50.
	one := services{Rate: &rate, Blocks: 1, For: 50 * time.Millisecond}
	code, out, said, err := compareURLs(&compareCommand{services: one}, s.URL, gone.URL)
	if err != nil || code != unreadable || out != "" || !strings.Contains(said, gone.URL) {
		t.Errorf("exit code %d, %v, %q, %q", code, err, out, said)
	}
	if _, _, _, err := compareURLs(&compareCommand{services: one}, s.URL+"/a", s.URL+"/b"); err == nil || !strings.Contains(err.Error(), "path /a/ before, /b/ after") {
		t.Error(err)
	}
	for text, wrong := range map[string]services{
		"give --rate":        {Blocks: 6, For: time.Second},
		"--blocks 0":         {Rate: &rate, For: time.Second},
		"--for 0s":           {Rate: &rate, Blocks: 6},
		`--header "nothing"`: {Rate: &rate, Blocks: 6, For: time.Second, Header: []string{"nothing"}},
	} {
		if _, _, _, err := compareURLs(&compareCommand{services: wrong}, s.URL, s.URL); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %s", err, text)
		}
	}
}
