package jvmparnew

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unstall/unstall/dev/tools/tooltest"
	"github.com/unstall/unstall/lab/build"
	"github.com/unstall/unstall/lab/jvm-parnew/app"
	"github.com/unstall/unstall/lab/jvmapp"
	"github.com/unstall/unstall/lab/process"
	"github.com/unstall/unstall/lab/resp"
)

// node is a part of the service's answer.
type node struct {
	ID       int    `json:"id"`
	Name     string `json:"name"`
	Children []node `json:"children"`
}

func count(nodes []node) (n, deepest int) {
	for _, x := range nodes {
		below, depth := count(x.Children)
		n, deepest = n+1+below, max(deepest, 1+depth)
	}
	return n, deepest
}

// start runs the service with options of its own until the test ends.
func start(t *testing.T, classpath, java, database string, options ...string) (url string) {
	t.Helper()
	args := append([]string{"-Xmx256m", "-cp", classpath, app.Main, "--database=" + database}, options...)
	var said struct{ Serving string }
	p, err := process.Start(context.Background(), java, args, nil, filepath.Join(t.TempDir(), "stderr"), &said)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop() })
	return "http://" + said.Serving + "/tree"
}

func get(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("%s: %s, %v: %.200s", url, answer.Status, err, text)
	}
	return string(text)
}

// TestService checks that one answer takes 40 queries, and that the same work on reused memory gives
// the same answer: then the counterfactual lacks only the garbage.
func TestService(t *testing.T) {
	classpath, java := compiled(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	asked := make(chan string, 1000)
	go resp.Serve(l, func(key string) []byte { asked <- key; return []byte("value of " + key) }, func(time.Duration) {})
	files := t.TempDir()

	sick := start(t, classpath, java, l.Addr().String(), "--gauges="+filepath.Join(files, "gauges"), "--spans="+filepath.Join(files, "spans"), "--sampled=1")
	answer := get(t, sick)
	if len(asked) != 40 {
		t.Errorf("it asked %d times", len(asked))
	}
	if len(answer) < 40<<10 || len(answer) > 60<<10 {
		t.Errorf("the answer has %d bytes", len(answer))
	}
	var tree []node
	if err := json.Unmarshal([]byte(answer), &tree); err != nil {
		t.Fatal(err)
	}
	if n, deepest := count(tree); n != 800 || deepest < 3 {
		t.Errorf("a tree of %d nodes, %d levels", n, deepest)
	}

	reused := start(t, classpath, java, l.Addr().String(), "--reuse")
	for range 3 { // memory is reused from the second on
		if got := get(t, reused); got != answer {
			t.Fatalf("without garbage it answers %.100s…, with it %.100s…", got, answer)
		}
	}
	cached := start(t, classpath, java, l.Addr().String(), "--cache=60000")
	for range 2 {
		if got := get(t, cached); got != answer {
			t.Fatalf("from its cache it answers %.100s…, without %.100s…", got, answer)
		}
	}
	if n := len(asked); n != 5*40 {
		t.Errorf("they asked %d times in all, the cache once for both", n)
	}

	gauges, err := os.ReadFile(filepath.Join(files, "gauges"))
	if err != nil || !strings.HasPrefix(string(gauges), `{"time":"20`) {
		t.Errorf("gauges %q, %v", gauges, err)
	}
	spans, err := os.ReadFile(filepath.Join(files, "spans"))
	if err != nil || strings.Count(string(spans), "traceId") != 41 || !json.Valid(spans) {
		t.Errorf("spans: %d of a request and 40 queries, %v: %.300s", strings.Count(string(spans), "traceId"), err, spans)
	}
}

// compiled returns the class path of the service and a java to run it, with JDK 11. Without one
// of the tools the test is skipped; it fails if the environment names the tool.
func compiled(t *testing.T) (classpath, java string) {
	t.Helper()
	say := func(text string) { t.Log(text) }
	home, javac, tomcat := jvmapp.Home(t, 11), tooltest.Find(t, "javac"), tooltest.Find(t, "tomcat")
	jars, err := build.Jars(filepath.Join(tomcat, "lib"))
	if err != nil {
		t.Fatal(err)
	}
	classes, err := build.Java(t.Context(), javac, Lab.Name, app.Sources, jars, 11, say)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(append([]string{classes}, jars...), string(filepath.ListSeparator)), filepath.Join(home, "bin", "java")
}
