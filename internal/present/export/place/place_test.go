package place

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// put stages a text and puts it under a name.
func put(t *testing.T, p Place, name, text string) error {
	t.Helper()
	f, err := p.Stage(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer p.Drop(f)
	if _, err := io.WriteString(f, text); err != nil {
		t.Fatal(err)
	}
	return p.Put(t.Context(), name, f)
}

func TestDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "tables")
	p, err := Of(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		if err := put(t, p, "runs/a.parquet", text); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, "runs", "a.parquet"))
	if err != nil || string(got) != "two" {
		t.Errorf("%q, %v", got, err)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "runs")); len(left) != 1 {
		t.Errorf("%v: what was staged is left", left)
	}
	file, _ := Of(filepath.Join(dir, "runs", "a.parquet"))
	if err := file.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "is a file: give a directory") {
		t.Errorf("a file as a directory: %v", err)
	}
	if err := put(t, file, "runs/b.parquet", "x"); err == nil {
		t.Error("wrote below a file")
	}
}

// settings returns variables of the environment.
func settings(pairs ...string) func(string) string {
	all := map[string]string{"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI"}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return all[name] }
}

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		rest string
		env  func(string) string
		want string
	}{
		{"", settings(), "the bucket is missing"},
		{"b/p", settings("AWS_SECRET_ACCESS_KEY", ""), "no credentials: set AWS_ACCESS_KEY_ID"},
		{"b/p", settings("AWS_ENDPOINT_URL", "localhost:9000"), `AWS_ENDPOINT_URL "localhost:9000": not the address`},
	} {
		if _, err := newStore("s3://"+c.rest, c.rest, c.env); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.rest, err, c.want)
		}
	}
	s, err := newStore("s3://b", "b", settings("AWS_DEFAULT_REGION", "eu-north-1"))
	if err != nil || s.endpoint.String() != "https://s3.eu-north-1.amazonaws.com" {
		t.Errorf("%v, %v", s, err)
	}
	if _, err := Of("gs://b/p"); err == nil || !strings.Contains(err.Error(), "cannot write to gs://") {
		t.Errorf("%v", err)
	}
}

// bucket is a store that answers as told and keeps what it was sent.
type bucket struct {
	sync.Mutex
	answers []int // to the next requests; then 200
	text    string
	header  http.Header
	seen    []string
	objects map[string]string
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.Lock()
	defer b.Unlock()
	body, _ := io.ReadAll(r.Body)
	b.seen = append(b.seen, r.Method+" "+r.URL.EscapedPath())
	sum := sha256.Sum256(body)
	if r.Header.Get("X-Amz-Content-Sha256") != hex.EncodeToString(sum[:]) || !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/") {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for k, v := range b.header {
		w.Header()[k] = v
	}
	if len(b.answers) > 0 {
		code := b.answers[0]
		b.answers = b.answers[1:]
		if code != 200 {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, b.text)
			return
		}
	}
	if r.Method == http.MethodPut {
		b.objects[r.URL.Path] = string(body)
	}
}

func TestStore(t *testing.T) {
	for _, c := range []struct {
		name string
		*bucket
		want   string // of the error
		asked  int
		stored bool
	}{
		{name: "well", bucket: new(bucket), asked: 1, stored: true},
		{name: "busy at first", bucket: &bucket{answers: []int{503, 500}}, asked: 3, stored: true},
		{name: "no such bucket", bucket: &bucket{answers: []int{404}, text: "<Error><Code>NoSuchBucket</Code><Message>The bucket does not exist.</Message></Error>"}, want: "the store answers 404 NoSuchBucket (The bucket does not exist): the bucket does not exist: create it", asked: 1},
		{name: "wrong keys", bucket: &bucket{answers: []int{403}, text: "<Error><Code>SignatureDoesNotMatch</Code></Error>"}, want: "the store answers 403 SignatureDoesNotMatch: check AWS_ACCESS_KEY_ID", asked: 1},
		{name: "elsewhere", bucket: &bucket{answers: []int{301}, header: http.Header{"X-Amz-Bucket-Region": {"eu-west-3"}}}, want: "the bucket is in eu-west-3: set AWS_REGION=eu-west-3", asked: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := c.bucket
			b.objects = make(map[string]string)
			server := httptest.NewServer(b)
			defer server.Close()
			s, err := newStore("s3://fleet/a b/", "fleet/a b/", settings("AWS_ENDPOINT_URL", server.URL))
			if err != nil {
				t.Fatal(err)
			}
			err = put(t, s, "runs/x.parquet", "PAR1")
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if len(b.seen) != c.asked || b.seen[0] != "PUT /fleet/a%20b/runs/x.parquet" {
				t.Errorf("asked %q", b.seen)
			}
			if got := b.objects["/fleet/a b/runs/x.parquet"]; (got == "PAR1") != c.stored {
				t.Errorf("stored %q", b.objects)
			}
		})
	}
}

// TestUnreachable checks that an unreachable store is reported before anything is read.
func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	at := server.URL
	server.Close()
	s, err := newStore("s3://b/p", "b/p", settings("AWS_ENDPOINT_URL", at))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop() // no second try
	if err := s.Check(ctx); err == nil {
		t.Error("no error")
	}
	err = s.sendOnce(t.Context(), http.MethodHead, "", nil, hex.EncodeToString(sha256.New().Sum(nil)), 0)
	if err == nil || !strings.Contains(err.Error(), "does not answer: ") || !strings.Contains(err.Error(), "check AWS_ENDPOINT_URL") {
		t.Errorf("%v", err)
	}
}
