package nettrace

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unstall/unstall/internal/base/evidence"
	"github.com/unstall/unstall/internal/collect/probe/dotnet/ipc"
	"github.com/unstall/unstall/lab/dotnetapp"
)

// The second line makes ASP.NET Core 3.1 ask whether anybody listens.
const requestSpec = "Microsoft.AspNetCore/Microsoft.AspNetCore.Hosting.HttpRequestIn.Start@Activity1Start:-Request.Path;Request.Method;ActivityId=*Activity.Id\n" +
	"Microsoft.AspNetCore/Microsoft.AspNetCore.Hosting.HttpRequestIn@Event:-\n" +
	"Microsoft.AspNetCore/Microsoft.AspNetCore.Hosting.HttpRequestIn.Stop@Activity1Stop:-ActivityId=*Activity.Id;Response.StatusCode;ActivityDuration=*Activity.Duration.Ticks"

// TestLiveRequests compares the requests read from a running server's events, which
// await and so end on other threads than they began on, with those of a
// client: by hosting's events, by diagnostics', and by both.
func TestLiveRequests(t *testing.T) {
	hosting := ipc.Provider{Name: provHosting, Keywords: ^uint64(0), Level: 4}
	diagnostics := ipc.Provider{Name: provDiagnostic, Keywords: 3, Level: 5, Args: `FilterAndPayloadSpecs="` + requestSpec + `"`}
	for _, c := range []struct {
		name      string
		providers []ipc.Provider
	}{{"hosting", []ipc.Provider{hosting}}, {"diagnostics", []ipc.Provider{diagnostics}}, {"both", []ipc.Provider{hosting, diagnostics}}} {
		t.Run(c.name, func(t *testing.T) {
			a := dotnetapp.Start(t)
			const clients, each = 20, 3
			data := record(t, a.PID, c.providers, func() {
				var wait sync.WaitGroup
				for range clients {
					wait.Go(func() {
						for range each {
							get(t, a.URL+"/api/diagscenario/taskasyncwait")
						}
					})
				}
				wait.Wait()
			})
			b, err := suite.Read(data)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range b.Warnings {
				t.Errorf("warns %q", w.Text)
			}
			if s := b.Subjects[0]; s.PID != a.PID || s.Name != "DiagnosticScenarios" || s.Version == "" {
				t.Errorf("subject %+v", s)
			}
			if b.Requests.Len() != clients*each {
				t.Errorf("%d requests, want %d", b.Requests.Len(), clients*each)
			}
			late := 0 // a client has its answer before the server has ended its request
			for i := range b.Requests.Len() {
				r := b.Requests.Row(i)
				if r.Outcome == evidence.Unfinished && late < clients {
					late++
					continue
				}
				if route := b.Names.Text(r.Route); r.Outcome != evidence.OK || route != "GET /api/diagscenario/taskasyncwait" || r.Lane == 0 {
					t.Fatalf("request %+v of %q", r, route)
				}
				if r.Latency() < 490e6 { // its query takes half a second
					t.Fatalf("request %d took %v", i, time.Duration(r.Latency()))
				}
			}
		})
	}
}

// record returns the events of a process while something was done.
func record(t *testing.T, pid int, providers []ipc.Provider, do func()) []byte {
	t.Helper()
	client, err := ipc.Find(pid)
	if err != nil {
		t.Fatal(err)
	}
	tracked := append([]ipc.Provider{{Name: "System.Threading.Tasks.TplEventSource", Keywords: 0x80, Level: 4}}, providers...)
	s, err := client.Start(t.Context(), ipc.Config{Providers: tracked, BufferMB: 16, Rundown: ipc.Rundown})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var data []byte
	read := make(chan error)
	go func() {
		data, err = io.ReadAll(s)
		read <- err
	}()
	do()
	if err := s.Stop(t.Context(), 30*time.Second); err != nil {
		t.Fatal(err)
	}
	if err := <-read; err != nil {
		t.Fatal(err)
	}
	return data
}

func get(t *testing.T, url string) {
	r, err := http.Get(url)
	if err != nil {
		t.Error(err)
		return
	}
	defer r.Body.Close()
	if body, err := io.ReadAll(r.Body); err != nil || r.StatusCode != 200 || !strings.Contains(string(body), "Dana") {
		t.Errorf("%d %q %v", r.StatusCode, body, err)
	}
}
