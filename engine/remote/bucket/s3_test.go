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
	"github.com/rewind-cli/rewind/internal/testkit/s3server"
)

func init() {
	places["s3"] = func(t *testing.T) bucket.Bucket {
		s := s3server.New(t)
		s.Page = 3
		return openS3(t, s, bucket.Options{})
	}
	places["s3 with conditions"] = func(t *testing.T) bucket.Bucket { return openS3(t, s3server.New(t), bucket.Options{Conditional: true}) }
}

// openS3 opens the bucket of a server, as one that does not pause for long.
func openS3(t *testing.T, s *s3server.Server, o bucket.Options) bucket.Bucket {
	t.Helper()
	if o.Getenv == nil {
		o.Getenv = s.Env()
	}
	b := open(t, "s3://"+s3server.BucketName+"/team/rewind", o)
	bucket.Hasten(b)
	return b
}

func TestLongUnsortedListing(t *testing.T) {
	s := s3server.New(t)
	b := openS3(t, s, bucket.Options{})
	var want []string
	for i := range 25 {
		put(t, b, fmt.Sprintf("w/%02d", (i*7)%25), "x")
		want = append(want, fmt.Sprintf("w/%02d=1", i))
	}
	s.Page = 10
	s.Foreign = []string{"team/rewind/w/../../x", "team/rewind/w/Big", "team/rewind/w/dir/", "team/rewind//x", "elsewhere/w/1", "team/rewind/w/\x00\x1b[2J", "team/rewind/w/%2e", "team/rewind/w/07"}
	before := len(s.Requests())
	if got := names(t, b, ""); got != strings.Join(want, " ") {
		t.Errorf("%s\nnot %s", got, want)
	}
	if n := len(s.Requests()) - before; n != 4 {
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
		s := &s3server.Server{URL: h.URL}
		if got, err := openS3(t, s, bucket.Options{}).List(t.Context(), ""); err == nil {
			t.Errorf("%q: %v", answer, got)
		}
		h.Close()
	}
}

// Each kind of failure, at each request of a life, and after it everything is there.
func TestFaultsOfAServer(t *testing.T) {
	for _, f := range []s3server.Failure{{Drop: "before"}, {Drop: "after"}, {Drop: "torn"}, {Status: 500, Code: "InternalError"}, {Status: 503, Code: "SlowDown"}, {Status: 429}, {Status: 502}, {Status: 400, Code: "RequestTimeout"}, {Status: 409, Code: "ConditionalRequestConflict"}} {
		for _, conditional := range []bool{false, true} {
			for at := 1; at <= 7; at++ {
				s := s3server.New(t)
				s.Fail = func(n int, r *http.Request) s3server.Failure {
					if n == at || n == at+1 {
						return f
					}
					return s3server.Failure{}
				}
				b := openS3(t, s, bucket.Options{Conditional: conditional})
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
		fail    s3server.Failure
		timeout time.Duration
		times   int
	}{
		"500": {s3server.Failure{Status: 500}, 0, 5}, "503": {s3server.Failure{Status: 503, Code: "SlowDown"}, 0, 5}, "dropped": {s3server.Failure{Drop: "before"}, 0, 5}, "hangs": {s3server.Failure{Hang: time.Minute}, 200 * time.Millisecond, 1},
	} {
		s := s3server.New(t)
		s.Fail = func(int, *http.Request) s3server.Failure { return c.fail }
		b := openS3(t, s, bucket.Options{Timeout: c.timeout})
		err := b.Put(t.Context(), "w/1", []byte("x"))
		if !errors.As(err, &unreachable) || !strings.Contains(s.URL, unreachable.Host) || unreachable.Host == "" || len(s.Requests()) < c.times || len(s.Requests()) > 2*c.times {
			t.Errorf("%s: %v after %d requests", kind, err, len(s.Requests()))
		}
	}
	h := httptest.NewServer(nil)
	h.Close()
	s := &s3server.Server{URL: h.URL}
	if _, err := openS3(t, s, bucket.Options{}).Get(t.Context(), "w/1", 1); !errors.As(err, &unreachable) {
		t.Errorf("no server: %v", err)
	}
	s.URL = "http://no.such.host.invalid"
	if _, err := openS3(t, s, bucket.Options{Timeout: time.Second}).Get(t.Context(), "w/1", 1); !errors.As(err, &unreachable) || strings.Contains(err.Error(), s3server.Key) {
		t.Errorf("no host: %v", err)
	}
	tls := httptest.NewTLSServer(nil) // a certificate that nobody trusts
	defer tls.Close()
	s.URL = tls.URL
	if _, err := openS3(t, s, bucket.Options{}).Get(t.Context(), "w/1", 1); !errors.As(err, &unreachable) {
		t.Errorf("a strange certificate: %v", err)
	}
}

func TestDeadline(t *testing.T) {
	s := s3server.New(t)
	s.Fail = func(int, *http.Request) s3server.Failure { return s3server.Failure{Hang: time.Minute} }
	b := openS3(t, s, bucket.Options{})
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
	s := &s3server.Server{URL: h.URL}
	if got, err := openS3(t, s, bucket.Options{Timeout: 700 * time.Millisecond}).Get(t.Context(), "w/1", 100); err != nil || len(got) != 100 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestDenied(t *testing.T) {
	s := s3server.New(t)
	b := openS3(t, s, bucket.Options{Getenv: s.Env("AWS_SECRET_ACCESS_KEY", "another")})
	var denied *bucket.DeniedError
	err := b.Put(t.Context(), "w/1", nil)
	if !errors.As(err, &denied) || !strings.Contains(denied.Next, "AWS_ACCESS_KEY_ID") || !strings.Contains(err.Error(), "SignatureDoesNotMatch Words of the server.") || len(s.Requests()) != 1 {
		t.Errorf("%v, %q, %d requests", err, denied.Next, len(s.Requests()))
	}
	s.Policy = func(r *http.Request) bool { return r.Method == "PUT" }
	b = openS3(t, s, bucket.Options{})
	put(t, b, "w/1", "x")
	if _, err := b.List(t.Context(), ""); !errors.As(err, &denied) || denied.Next != "Allow s3:ListBucket on s3://backup/team/rewind/ to the access key of the variable AWS_ACCESS_KEY_ID." {
		t.Errorf("%v, %q", err, denied.Next)
	}
	if can, err := bucket.Probe(t.Context(), b); err != nil || can != (bucket.Capabilities{Conditional: true, Overwrite: true}) {
		t.Errorf("%+v, %v", can, err)
	}
	s.Policy = func(r *http.Request) bool { return r.Method == "PUT" && r.Header.Get("If-None-Match") == "*" }
	if can, err := bucket.Probe(t.Context(), b); err != nil || can != (bucket.Capabilities{Conditional: true}) {
		t.Errorf("%+v, %v", can, err)
	}
	once := openS3(t, s, bucket.Options{Conditional: true})
	put(t, once, "w/2", "x")
	put(t, once, "w/2", "x") // what is there cannot be compared
	var wrong *bucket.URLError
	if _, err := open(t, "s3://other", bucket.Options{Getenv: s.Env()}).List(t.Context(), ""); s.Policy != nil && !errors.As(err, &denied) {
		t.Error(err)
	}
	s.Policy = nil
	other := open(t, "s3://other", bucket.Options{Getenv: s.Env()})
	_, get := other.Get(t.Context(), "w/1", 1)
	if err := other.Put(t.Context(), "w/1", nil); !errors.As(err, &wrong) || !errors.As(get, &wrong) || errors.Is(get, fs.ErrNotExist) {
		t.Errorf("no bucket: %v, %v", err, get)
	}
}

func TestConditionsOfServers(t *testing.T) {
	for _, kind := range []string{"", "ignored", "501"} {
		s := s3server.New(t)
		s.Conditions = kind
		can, err := bucket.Probe(t.Context(), openS3(t, s, bucket.Options{}))
		if err != nil || can != (bucket.Capabilities{Conditional: kind == "", Overwrite: true, Read: true, List: true, Delete: true}) {
			t.Errorf("%q: %+v, %v", kind, can, err)
		}
		if len(s.Names()) > 0 {
			t.Errorf("%q: the probe left %v", kind, s.Names())
		}
		plain := openS3(t, s, bucket.Options{Conditional: can.Conditional})
		s.Policy = func(r *http.Request) bool { return (r.Header.Get("If-None-Match") != "") == (kind == "") }
		put(t, plain, "w/1", "x")
	}
	s := s3server.New(t) // its rules changed since the probe
	s.Conditions = "501"
	b := openS3(t, s, bucket.Options{Conditional: true})
	put(t, b, "w/1", "x")
	put(t, b, "w/2", "x")
	if len(s.Requests()) != 3 {
		t.Errorf("%d requests", len(s.Requests()))
	}
}

// A torn upload that the server published is replaced, although a condition protects it.
func TestTornUpload(t *testing.T) {
	for _, conditional := range []bool{false, true} {
		s := s3server.New(t)
		s.Fail = func(n int, r *http.Request) s3server.Failure {
			if n <= 5 {
				return s3server.Failure{Drop: "torn"}
			}
			return s3server.Failure{}
		}
		b := openS3(t, s, bucket.Options{Conditional: conditional})
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
		s := s3server.New(t)
		s.Ahead = ahead
		b := openS3(t, s, bucket.Options{})
		put(t, b, "w/1", "x")
		put(t, b, "w/2", "x")
		if len(s.Requests()) != 3 {
			t.Errorf("%v ahead: %v", ahead, s.Requests())
		}
		s.Ahead = 0
		holds(t, b, "w/1", "x")
	}
}

func TestRegions(t *testing.T) {
	s := s3server.New(t)
	s.Region = "eu-central-1"
	b := openS3(t, s, bucket.Options{})
	put(t, b, "w/1", "x")
	put(t, b, "w/2", "x")
	if len(s.Requests()) != 3 {
		t.Errorf("it was told of the region, and sent %v", s.Requests())
	}
	put(t, openS3(t, s, bucket.Options{Getenv: s.Env("AWS_DEFAULT_REGION", "eu-central-1")}), "w/3", "x")
	put(t, openS3(t, s, bucket.Options{Getenv: s.Env("AWS_REGION", "eu-central-1", "AWS_DEFAULT_REGION", "x")}), "w/3", "x")
	put(t, open(t, "s3://backup?region=eu-central-1", bucket.Options{Getenv: s.Env("AWS_REGION", "x")}), "w/3", "x")
	if len(s.Requests()) != 6 {
		t.Errorf("it was given the region, and sent %v", s.Requests())
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
		env := map[string]string{"AWS_ACCESS_KEY_ID": s3server.Key, "AWS_SECRET_ACCESS_KEY": s3server.Secret}
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
		"s3://key:" + url.QueryEscape(s3server.Secret) + "@b/p", "s3://key:" + s3server.Secret + "@b/p", "s3://b/" + strings.Repeat("x", 500)} {
		var wrong *bucket.URLError
		if _, err := bucket.Open(address, bucket.Options{}); !errors.As(err, &wrong) || wrong.Next == "" || strings.Contains(err.Error(), s3server.Secret[:5]) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestLargeAnswers(t *testing.T) {
	s := s3server.New(t)
	b := openS3(t, s, bucket.Options{})
	put(t, b, "w/1", strings.Repeat("x", 1000))
	before := len(s.Requests())
	var large *bucket.TooLargeError
	if _, err := b.Get(t.Context(), "w/1", 999); !errors.As(err, &large) || len(s.Requests()) != before+1 {
		t.Error(err)
	}
}

// The examples of "Signature Calculations for the Authorization Header" in the reference of S3.
func TestSignatureExamples(t *testing.T) {
	empty := "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for _, c := range []struct{ method, url, signed, body, header, want string }{
		{"GET", "/test.txt", "host;range;x-amz-content-sha256;x-amz-date", empty, "Range: bytes=0-9", "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{"PUT", "/test%24file.text", "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class", "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072", "Date: Fri, 24 May 2013 00:00:00 GMT|X-Amz-Storage-Class: REDUCED_REDUNDANCY", "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
		{"GET", "/?lifecycle", "host;x-amz-content-sha256;x-amz-date", empty, "", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		{"GET", "/?max-keys=2&prefix=J", "host;x-amz-content-sha256;x-amz-date", empty, "", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	} {
		r := httptest.NewRequest(c.method, "https://examplebucket.s3.amazonaws.com"+c.url, nil)
		r.Header.Set("X-Amz-Date", "20130524T000000Z")
		r.Header.Set("X-Amz-Content-Sha256", c.body)
		for line := range strings.SplitSeq(c.header, "|") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				r.Header.Set(name, value)
			}
		}
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+s3server.Key+"/20130524/us-east-1/s3/aws4_request,SignedHeaders="+c.signed+",Signature="+c.want)
		if got, err := s3server.Signature(r, s3server.Secret); err != nil || got != c.want {
			t.Errorf("%s %s: %s, %v", c.method, c.url, got, err)
		}
	}
}
