package dotnetapp

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestStart(t *testing.T) {
	a := Start(t, "COMPlus_ThreadPool_ForceMinWorkerThreads=c8")
	release := a.Hold(t, "/api/diagscenario/taskasyncwait", 10)
	for _, path := range []string{"taskwait", "tasksleepwait", "taskasyncwait", "cpu?rounds=1", "lock?rounds=1", "allocate?megabytes=1"} {
		answer, err := http.Get(a.URL + "/api/diagscenario/" + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if name, _, _ := strings.Cut(path, "?"); err != nil || answer.StatusCode != 200 || !strings.HasPrefix(string(text), name+": ") {
			t.Errorf("%s: %s %q, %v", path, answer.Status, text, err)
		}
	}
	release()
	if link, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(a.PID), "exe")); err == nil && !strings.HasPrefix(filepath.Base(link), "dotnet") {
		t.Errorf("process %d is %s, not dotnet", a.PID, link)
	}
}
