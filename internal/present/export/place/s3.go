package place

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// store is a bucket. It is addressed by path, which every store understands. Requests are
// signed by version 4 (https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html)
// with the keys and at the endpoint that the variables of the AWS tools name.
type store struct {
	name           string // as given
	bucket, prefix string
	endpoint       *url.URL
	region         string
	keys           aws.Credentials
	client         *http.Client
}

// How long a request to a store may take, and how often it is repeated if the store is busy or does
// not answer.
const (
	answers = 30 * time.Second // until the first byte of the answer's head
	tries   = 4
	pause   = 500 * time.Millisecond // before the second try, twice that before the third
)

func newStore(name, rest string, env func(string) string) (*store, error) {
	bucket, prefix, _ := strings.Cut(rest, "/")
	if bucket == "" {
		return nil, fmt.Errorf("%s: the bucket is missing: give s3://BUCKET/PREFIX", name)
	}
	first := func(names ...string) string {
		for _, n := range names {
			if v := env(n); v != "" {
				return v
			}
		}
		return ""
	}
	s := &store{name: name, bucket: bucket, prefix: strings.Trim(prefix, "/"), region: first("AWS_REGION", "AWS_DEFAULT_REGION"), client: &http.Client{Transport: newTransport()}}
	if s.region == "" {
		s.region = "us-east-1" // the region that stores without regions expect
	}
	s.keys = aws.Credentials{AccessKeyID: env("AWS_ACCESS_KEY_ID"), SecretAccessKey: env("AWS_SECRET_ACCESS_KEY"), SessionToken: env("AWS_SESSION_TOKEN")}
	if s.keys.AccessKeyID == "" || s.keys.SecretAccessKey == "" {
		return nil, fmt.Errorf("%s: no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_ENDPOINT_URL unless the store is Amazon S3)", name)
	}
	at := first("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
	if at == "" {
		at = "https://s3." + s.region + ".amazonaws.com"
	}
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("AWS_ENDPOINT_URL %q: not the address of a store: give http://HOST:PORT", at)
	}
	s.endpoint = u
	return s, nil
}

func newTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = answers
	return t
}

func (s *store) String() string { return s.name }

// Check asks for the bucket. A store answers 403 to a user who may write to it but not ask for it,
// so that answer is no error.
func (s *store) Check(ctx context.Context) error {
	err := s.sendWithRetries(ctx, http.MethodHead, "", nil)
	var a *answer
	if errors.As(err, &a) && a.status == http.StatusForbidden {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

func (s *store) Stage(string) (*os.File, error) {
	f, err := os.CreateTemp("", "unstall-part-*")
	return f, stripPath(err)
}

func (s *store) Put(ctx context.Context, name string, staged *os.File) error {
	return s.sendWithRetries(ctx, http.MethodPut, path.Join(s.prefix, name), staged)
}

func (s *store) Drop(staged *os.File) {
	_ = staged.Close()
	_ = os.Remove(staged.Name())
}

// answer is an error response of the store.
type answer struct {
	status        int
	code, message string
	region        string // where the bucket is instead
}

func (a *answer) Error() string {
	what := strings.TrimSpace(fmt.Sprintf("%d %s", a.status, a.code))
	if a.message != "" {
		what += " (" + strings.TrimSuffix(a.message, ".") + ")"
	}
	switch {
	case a.region != "":
		return fmt.Sprintf("the store answers %s: the bucket is in %s: set AWS_REGION=%s", what, a.region, a.region)
	case a.code == "NoSuchBucket" || a.status == http.StatusNotFound:
		return fmt.Sprintf("the store answers %s: the bucket does not exist: create it, or check the name and AWS_ENDPOINT_URL", what)
	case a.status == http.StatusForbidden || a.status == http.StatusUnauthorized:
		return fmt.Sprintf("the store answers %s: check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, and their permission to write to the bucket", what)
	}
	return fmt.Sprintf("the store answers %s", what)
}

// canRetry says whether the same request may succeed later.
func (a *answer) canRetry() bool {
	return a.status >= 500 || a.status == http.StatusTooManyRequests || a.status == http.StatusRequestTimeout
}

// sendWithRetries sends a signed request about the bucket (key "") or an object, and again where
// that may help. A body is read from its beginning each time.
func (s *store) sendWithRetries(ctx context.Context, method, key string, body *os.File) error {
	sum, size, err := hashFile(body)
	if err != nil {
		return stripPath(err)
	}
	wait := pause
	for try := 1; ; try++ {
		err := s.sendOnce(ctx, method, key, body, sum, size)
		var a *answer
		if err == nil || try == tries || ctx.Err() != nil || errors.As(err, &a) && !a.canRetry() {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
		wait *= 2
	}
}

func (s *store) sendOnce(ctx context.Context, method, key string, body *os.File, sum string, size int64) error {
	at := *s.endpoint
	at.Path = path.Join("/", at.Path, s.bucket, key)
	var from io.Reader
	if body != nil {
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			return stripPath(err)
		}
		from = io.NopCloser(io.LimitReader(body, size))
	}
	r, err := http.NewRequestWithContext(ctx, method, at.String(), from)
	if err != nil {
		return err
	}
	r.ContentLength = size
	r.Header.Set("X-Amz-Content-Sha256", sum)
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err := signer.SignHTTP(ctx, s.keys, r, sum, "s3", s.region, time.Now()); err != nil {
		return err
	}
	resp, err := s.client.Do(r)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return fmt.Errorf("%s does not answer: %w: check AWS_ENDPOINT_URL", s.endpoint.Host, err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode < 300 {
		return nil
	}
	a := &answer{status: resp.StatusCode}
	var said struct{ Code, Message string }
	if xml.Unmarshal(text, &said) == nil {
		a.code, a.message = said.Code, said.Message
	}
	if in := resp.Header.Get("X-Amz-Bucket-Region"); in != "" && in != s.region {
		a.region = in
	}
	return a
}

// hashFile returns the SHA-256 of a file's content, and its size.
func hashFile(f *os.File) (string, int64, error) {
	sum := sha256.New()
	if f == nil {
		return hex.EncodeToString(sum.Sum(nil)), 0, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", 0, err
	}
	n, err := io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), n, err
}
