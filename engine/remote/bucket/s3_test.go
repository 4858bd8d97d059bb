package bucket_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

func init() {
	places["s3"] = func(t *testing.T) bucket.Bucket { s := newServer(t); s.page = 3; return s.open(t, bucket.Options{}) }
	places["s3 with conditions"] = func(t *testing.T) bucket.Bucket { return newServer(t).open(t, bucket.Options{Conditional: true}) }
}

func TestLongUnsortedListing(t *testing.T) {
	s := newServer(t)
	b := s.open(t, bucket.Options{})
	var want []string
	for i := range 25 {
		put(t, b, fmt.Sprintf("w/%02d", (i*7)%25), "x")
		want = append(want, fmt.Sprintf("w/%02d=1", i))
	}
	s.page = 10
	s.foreign = []string{"team/rewind/w/../../x", "team/rewind/w/Big", "team/rewind/w/dir/", "team/rewind//x", "elsewhere/w/1", "team/rewind/w/\x00\x1b[2J", "team/rewind/w/%2e", "team/rewind/w/07"}
	before := s.count()
	if got := names(t, b, ""); got != strings.Join(want, " ") {
		t.Errorf("%s\nnot %s", got, want)
	}
	if n := s.count() - before; n != 4 {
		t.Errorf("%d requests", n)
	}
}

func TestEndlessListing(t *testing.T) {
	for _, answer := range []string{
		"<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
		"<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken></ListBucketResult>",
		"<html>Sign in to the network of the hotel</html>", "", "<ListBucketResult>",
	} {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, answer) }))
		s := &server{url: h.URL}
		if got, err := s.open(t, bucket.Options{}).List(t.Context(), ""); err == nil {
			t.Errorf("%q: %v", answer, got)
		}
		h.Close()
	}
}

// Each kind of failure, at each request of a life, and after it everything is there.
func TestFaultsOfAServer(t *testing.T) {
	for _, f := range []failure{{drop: "before"}, {drop: "after"}, {drop: "torn"}, {status: 500, code: "InternalError"}, {status: 503, code: "SlowDown"}, {status: 429}, {status: 502}, {status: 400, code: "RequestTimeout"}, {status: 409, code: "ConditionalRequestConflict"}} {
		for _, conditional := range []bool{false, true} {
			for at := 1; at <= 7; at++ {
				s := newServer(t)
				s.fail = func(n int, r *http.Request) failure {
					if n == at || n == at+1 {
						return f
					}
					return failure{}
				}
				b := s.open(t, bucket.Options{Conditional: conditional})
				put(t, b, "w/1", "the first object")
				put(t, b, "w/2", "the second object")
				put(t, b, "w/1", "the first object")
				holds(t, b, "w/1", "the first object")
				holds(t, b, "w/2", "the second object")
				if got := names(t, b, ""); got != "w/1=16 w/2=17" {
					t.Errorf("%+v at %d, conditional %v: %s", f, at, conditional, got)
				}
				if err := b.Delete(t.Context(), "w/1"); err != nil {
					t.Errorf("%+v at %d: %v", f, at, err)
				}
			}
		}
	}
}

func TestUnreachable(t *testing.T) {
	var unreachable *bucket.UnreachableError
	for kind, c := range map[string]struct {
		fail    failure
		timeout time.Duration
		times   int
	}{
		"500": {failure{status: 500}, 0, 5}, "503": {failure{status: 503, code: "SlowDown"}, 0, 5}, "dropped": {failure{drop: "before"}, 0, 5}, "hangs": {failure{hang: time.Minute}, 200 * time.Millisecond, 1},
	} {
		s := newServer(t)
		s.fail = func(int, *http.Request) failure { return c.fail }
		b := s.open(t, bucket.Options{Timeout: c.timeout})
		err := b.Put(t.Context(), "w/1", []byte("x"))
		if !errors.As(err, &unreachable) || !strings.Contains(s.url, unreachable.Host) || unreachable.Host == "" || s.count() < c.times || s.count() > 2*c.times {
			t.Errorf("%s: %v after %d requests", kind, err, s.count())
		}
	}
	h := httptest.NewServer(nil)
	h.Close()
	s := &server{url: h.URL}
	if _, err := s.open(t, bucket.Options{}).Get(t.Context(), "w/1", 1); !errors.As(err, &unreachable) {
		t.Errorf("no server: %v", err)
	}
	s.url = "http://no.such.host.invalid"
	if _, err := s.open(t, bucket.Options{Timeout: time.Second}).Get(t.Context(), "w/1", 1); !errors.As(err, &unreachable) || strings.Contains(err.Error(), exampleKey) {
		t.Errorf("no host: %v", err)
	}
	tls := httptest.NewTLSServer(nil) // a certificate that nobody trusts
	defer tls.Close()
	s.url = tls.URL
	if _, err := s.open(t, bucket.Options{}).Get(t.Context(), "w/1", 1); !errors.As(err, &unreachable) {
		t.Errorf("a strange certificate: %v", err)
	}
}

func TestDeadline(t *testing.T) {
	s := newServer(t)
	s.fail = func(int, *http.Request) failure { return failure{hang: time.Minute} }
	b := s.open(t, bucket.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var unreachable *bucket.UnreachableError
	if err := b.Put(ctx, "w/1", nil); !errors.As(err, &unreachable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, stop)
	if err := b.Put(ctx, "w/1", nil); !errors.Is(err, context.Canceled) || errors.As(err, &unreachable) {
		t.Error(err)
	}
}

// A slow line is no stalled one.
func TestSlowAnswer(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range 10 {
			fmt.Fprint(w, "0123456789")
			w.(http.Flusher).Flush()
			time.Sleep(100 * time.Millisecond)
		}
	}))
	defer h.Close()
	s := &server{url: h.URL}
	if got, err := s.open(t, bucket.Options{Timeout: 700 * time.Millisecond}).Get(t.Context(), "w/1", 100); err != nil || len(got) != 100 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestDenied(t *testing.T) {
	s := newServer(t)
	b := s.open(t, bucket.Options{Getenv: s.env("AWS_SECRET_ACCESS_KEY", "another")})
	var denied *bucket.DeniedError
	err := b.Put(t.Context(), "w/1", nil)
	if !errors.As(err, &denied) || !strings.Contains(denied.Next, "AWS_ACCESS_KEY_ID") || !strings.Contains(err.Error(), "SignatureDoesNotMatch Words of the server.") || s.count() != 1 {
		t.Errorf("%v, %q, %d requests", err, denied.Next, s.count())
	}
	s.policy = func(r *http.Request) bool { return r.Method == "PUT" }
	b = s.open(t, bucket.Options{})
	put(t, b, "w/1", "x")
	if _, err := b.List(t.Context(), ""); !errors.As(err, &denied) || denied.Next != "Allow s3:ListBucket on s3://backup/team/rewind/ to the access key of the variable AWS_ACCESS_KEY_ID." {
		t.Errorf("%v, %q", err, denied.Next)
	}
	if can, err := bucket.Probe(t.Context(), b); err != nil || can != (bucket.Capabilities{Conditional: true, Overwrite: true}) {
		t.Errorf("%+v, %v", can, err)
	}
	s.policy = func(r *http.Request) bool { return r.Method == "PUT" && r.Header.Get("If-None-Match") == "*" }
	if can, err := bucket.Probe(t.Context(), b); err != nil || can != (bucket.Capabilities{Conditional: true}) {
		t.Errorf("%+v, %v", can, err)
	}
	once := s.open(t, bucket.Options{Conditional: true})
	put(t, once, "w/2", "x")
	put(t, once, "w/2", "x") // what is there cannot be compared
	var wrong *bucket.URLError
	if _, err := open(t, "s3://other", bucket.Options{Getenv: s.env()}).List(t.Context(), ""); s.policy != nil && !errors.As(err, &denied) {
		t.Error(err)
	}
	s.policy = nil
	other := open(t, "s3://other", bucket.Options{Getenv: s.env()})
	_, get := other.Get(t.Context(), "w/1", 1)
	if err := other.Put(t.Context(), "w/1", nil); !errors.As(err, &wrong) || !errors.As(get, &wrong) || errors.Is(get, fs.ErrNotExist) {
		t.Errorf("no bucket: %v, %v", err, get)
	}
}

func TestConditionsOfServers(t *testing.T) {
	for _, kind := range []string{"", "ignored", "501"} {
		s := newServer(t)
		s.conditions = kind
		can, err := bucket.Probe(t.Context(), s.open(t, bucket.Options{}))
		if err != nil || can != (bucket.Capabilities{Conditional: kind == "", Overwrite: true, Read: true, List: true, Delete: true}) {
			t.Errorf("%q: %+v, %v", kind, can, err)
		}
		if len(s.objects) > 0 {
			t.Errorf("%q: the probe left %v", kind, s.order)
		}
		plain := s.open(t, bucket.Options{Conditional: can.Conditional})
		s.policy = func(r *http.Request) bool { return (r.Header.Get("If-None-Match") != "") == (kind == "") }
		put(t, plain, "w/1", "x")
	}
	s := newServer(t) // its rules changed since the probe
	s.conditions = "501"
	b := s.open(t, bucket.Options{Conditional: true})
	put(t, b, "w/1", "x")
	put(t, b, "w/2", "x")
	if s.count() != 3 {
		t.Errorf("%d requests", s.count())
	}
}

// A torn upload that the server published is replaced, although a condition protects it.
func TestTornUpload(t *testing.T) {
	for _, conditional := range []bool{false, true} {
		s := newServer(t)
		s.fail = func(n int, r *http.Request) failure {
			if n <= 5 {
				return failure{drop: "torn"}
			}
			return failure{}
		}
		b := s.open(t, bucket.Options{Conditional: conditional})
		err := b.Put(t.Context(), "w/1", []byte("whole"))
		if conditional == (err != nil) {
			t.Errorf("conditional %v: %v", conditional, err)
		}
		put(t, b, "w/1", "whole")
		holds(t, b, "w/1", "whole")
	}
}

func TestClocks(t *testing.T) {
	for _, ahead := range []time.Duration{time.Hour, -time.Hour, 300 * 24 * time.Hour} {
		s := newServer(t)
		s.ahead = ahead
		b := s.open(t, bucket.Options{})
		put(t, b, "w/1", "x")
		put(t, b, "w/2", "x")
		if s.count() != 3 {
			t.Errorf("%v ahead: %v", ahead, s.requests)
		}
		s.ahead = 0
		holds(t, b, "w/1", "x")
	}
}

func TestRegions(t *testing.T) {
	s := newServer(t)
	s.region = "eu-central-1"
	b := s.open(t, bucket.Options{})
	put(t, b, "w/1", "x")
	put(t, b, "w/2", "x")
	if s.count() != 3 {
		t.Errorf("it was told of the region, and sent %v", s.requests)
	}
	put(t, s.open(t, bucket.Options{Getenv: s.env("AWS_DEFAULT_REGION", "eu-central-1")}), "w/3", "x")
	put(t, s.open(t, bucket.Options{Getenv: s.env("AWS_REGION", "eu-central-1", "AWS_DEFAULT_REGION", "x")}), "w/3", "x")
	put(t, open(t, "s3://backup?region=eu-central-1", bucket.Options{Getenv: s.env("AWS_REGION", "x")}), "w/3", "x")
	if s.count() != 6 {
		t.Errorf("it was given the region, and sent %v", s.requests)
	}
}

// recorder answers nothing, and remembers where a request went.
type recorder struct{ host, path, auth string }

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.host, r.path, r.auth = req.URL.Scheme+"://"+req.URL.Host, req.URL.Path, req.Header.Get("Authorization")
	return &http.Response{StatusCode: 200, Body: http.NoBody, Header: http.Header{}, Request: req}, nil
}

func TestAddresses(t *testing.T) {
	home := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(home, ".aws"), 0o700), os.WriteFile(filepath.Join(home, ".aws", "config"), []byte("[profile nas]\nendpoint_url = http://nas:9000\nregion=home-1\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ url, env, want, region string }{
		{"s3://b/p", "", "https://b.s3.us-east-1.amazonaws.com/p/w/1", "us-east-1"},
		{"s3://b", "AWS_REGION=cn-north-1", "https://b.s3.cn-north-1.amazonaws.com.cn/w/1", "cn-north-1"},
		{"s3://a.b/p/", "", "https://s3.us-east-1.amazonaws.com/a.b/p/w/1", "us-east-1"},
		{"s3://b/p?endpoint=s3.eu-central-003.backblazeb2.com", "", "https://s3.eu-central-003.backblazeb2.com/b/p/w/1", "eu-central-003"},
		{"s3://b/p?style=host&endpoint=http://localhost:9000/s3/", "AWS_ENDPOINT_URL=https://no", "http://b.localhost:9000/s3/p/w/1", "us-east-1"},
		{"s3://b/p?style=path", "AWS_REGION=eu-west-1", "https://s3.eu-west-1.amazonaws.com/b/p/w/1", "eu-west-1"},
		{"s3://b/p", "AWS_ENDPOINT_URL=https://no AWS_ENDPOINT_URL_S3=https://id.r2.cloudflarestorage.com AWS_REGION=auto", "https://id.r2.cloudflarestorage.com/b/p/w/1", "auto"},
		{"s3://b/p", "AWS_PROFILE=nas", "http://nas:9000/b/p/w/1", "home-1"},
		{"s3://b/p?region=x-1", "AWS_PROFILE=nas AWS_REGION=y-1", "http://nas:9000/b/p/w/1", "x-1"},
	} {
		env := map[string]string{"AWS_ACCESS_KEY_ID": exampleKey, "AWS_SECRET_ACCESS_KEY": exampleSecret}
		for pair := range strings.FieldsSeq(c.env) {
			key, value, _ := strings.Cut(pair, "=")
			env[key] = value
		}
		var r recorder
		put(t, open(t, c.url, bucket.Options{Getenv: func(name string) string { return env[name] }, Home: home, Transport: &r}), "w/1", "x")
		if r.host+r.path != c.want || !strings.Contains(r.auth, "/"+c.region+"/s3/") {
			t.Errorf("%s: %s%s, %s", c.url, r.host, r.path, r.auth)
		}
	}
	for _, address := range []string{"s3://", "s3:b", "s3:///p", "s3://../p", "s3://b/a b", "s3://b/../x", "s3://b/%2e%2e/x", "s3://b/p?x=1", "s3://b?style=odd", "s3://b?endpoint=ftp://h", "s3://b?endpoint=https://u:p@h", "s3://b?region=a/b", "s3://b#f",
		"s3://key:" + url.QueryEscape(exampleSecret) + "@b/p", "s3://key:" + exampleSecret + "@b/p", "s3://b/" + strings.Repeat("x", 500)} {
		var wrong *bucket.URLError
		if _, err := bucket.Open(address, bucket.Options{}); !errors.As(err, &wrong) || wrong.Next == "" || strings.Contains(err.Error(), exampleSecret[:5]) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestLargeAnswers(t *testing.T) {
	s := newServer(t)
	b := s.open(t, bucket.Options{})
	put(t, b, "w/1", strings.Repeat("x", 1000))
	before := s.count()
	var large *bucket.TooLargeError
	if _, err := b.Get(t.Context(), "w/1", 999); !errors.As(err, &large) || s.count() != before+1 {
		t.Error(err)
	}
}
