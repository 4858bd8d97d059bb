package bucket_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

// The keys of the examples of AWS.
const (
	exampleKey    = "AKIAIOSFODNN7EXAMPLE"
	exampleSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
)

// signature computes the signature of a request by the text of Signature Version 4, independent of the client: TestSignatureExamples
// compares it with the published ones.
func signature(r *http.Request, secret string) (string, error) {
	parts := map[string]string{}
	kind, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	for part := range strings.SplitSeq(rest, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		parts[key] = value
	}
	scope := strings.Split(parts["Credential"], "/")
	if kind != "AWS4-HMAC-SHA256" || len(scope) != 5 {
		return "", fmt.Errorf("authorization %q", r.Header.Get("Authorization"))
	}
	signed := strings.Split(parts["SignedHeaders"], ";")
	var headers strings.Builder
	for _, name := range signed {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = strconv.FormatInt(r.ContentLength, 10)
		}
		headers.WriteString(name + ":" + strings.TrimSpace(value) + "\n")
	}
	for name := range r.Header {
		if lower := strings.ToLower(name); (strings.HasPrefix(lower, "x-amz-") || lower == "content-md5" || lower == "if-none-match") && !slices.Contains(signed, lower) {
			return "", fmt.Errorf("%s is not signed", name)
		}
	}
	query := r.URL.Query()
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(query)) {
		for _, value := range query[key] {
			pairs = append(pairs, strings.ReplaceAll(url.QueryEscape(key)+"="+url.QueryEscape(value), "+", "%20"))
		}
	}
	canonical := strings.Join([]string{r.Method, r.URL.EscapedPath(), strings.Join(pairs, "&"), headers.String(), parts["SignedHeaders"], r.Header.Get("X-Amz-Content-Sha256")}, "\n")
	sum := sha256.Sum256([]byte(canonical))
	text := "AWS4-HMAC-SHA256\n" + r.Header.Get("X-Amz-Date") + "\n" + strings.Join(scope[1:], "/") + "\n" + hex.EncodeToString(sum[:])
	key := []byte("AWS4" + secret)
	for _, part := range append(scope[1:], text) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	return hex.EncodeToString(key), nil
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
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+exampleKey+"/20130524/us-east-1/s3/aws4_request,SignedHeaders="+c.signed+",Signature="+c.want)
		if got, err := signature(r, exampleSecret); err != nil || got != c.want {
			t.Errorf("%s %s: %s, %v", c.method, c.url, got, err)
		}
	}
}

// How a server fails one request.
type failure struct {
	status int    // answered before anything was done
	code   string // of that answer
	drop   string // the connection breaks "before" anything was done, "after" all was, or when the object was "torn": half of it is there
	hang   time.Duration
	header http.Header
}

// server is a small S3 that checks what it is sent: signature, hash, MD5, date and region.
type server struct {
	t          *testing.T
	url        string
	fail       func(n int, r *http.Request) failure // n counts from 1
	conditions string                               // "": honoured; "ignored"; "501"
	page       int                                  // names of an answer to a listing; they are unsorted
	ahead      time.Duration                        // of the clock
	region     string
	token      string // the session token that requests must have
	policy     func(r *http.Request) bool
	hostStyle  bool
	foreign    []string // names that are listed beside the objects

	mu       sync.Mutex
	requests []string
	objects  map[string][]byte
	order    []string
}

func newServer(t *testing.T) *server {
	s := &server{t: t, region: "us-east-1", page: 1000, objects: map[string][]byte{}}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

// env is the environment of a client that has the keys of the server.
func (s *server) env(more ...string) func(string) string {
	all := map[string]string{"AWS_ACCESS_KEY_ID": exampleKey, "AWS_SECRET_ACCESS_KEY": exampleSecret, "AWS_ENDPOINT_URL_S3": s.url, "AWS_EC2_METADATA_DISABLED": "true"}
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return func(name string) string { return all[name] }
}

func (s *server) open(t *testing.T, o bucket.Options) bucket.Bucket {
	t.Helper()
	if o.Getenv == nil {
		o.Getenv = s.env()
	}
	b := open(t, "s3://backup/team/rewind", o)
	bucket.Hasten(b)
	return b
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

func (s *server) answer(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>Words of the\nserver.</Message><Region>%s</Region></Error>", code, s.region)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now().Add(s.ahead)
	w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	var f failure
	if s.fail != nil {
		f = s.fail(len(s.requests), r)
	}
	drop := func() {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.Close()
		}
	}
	if f.hang > 0 {
		s.mu.Unlock()
		select {
		case <-r.Context().Done():
		case <-time.After(f.hang):
		}
		s.mu.Lock()
	}
	for name, values := range f.header {
		w.Header()[name] = values
	}
	switch {
	case f.status != 0:
		s.answer(w, f.status, f.code)
		return
	case f.drop == "before":
		drop()
		return
	}
	want, err := signature(r, exampleSecret)
	date, derr := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential="+exampleKey+"/")
	sum := sha256.Sum256(body)
	switch {
	case err != nil:
		s.t.Error(err)
		s.answer(w, 403, "AccessDenied")
		return
	case scope == "":
		s.answer(w, 403, "InvalidAccessKeyId")
		return
	case derr != nil || now.Sub(date).Abs() > 15*time.Minute:
		s.answer(w, 403, "RequestTimeTooSkewed")
		return
	case !strings.HasPrefix(scope[9:], s.region+"/s3/aws4_request"):
		s.answer(w, 400, "AuthorizationHeaderMalformed")
		return
	case r.Header.Get("X-Amz-Security-Token") != s.token:
		s.answer(w, 400, "ExpiredToken")
		return
	case !strings.HasSuffix(r.Header.Get("Authorization"), "Signature="+want):
		s.answer(w, 403, "SignatureDoesNotMatch")
		return
	case r.Header.Get("X-Amz-Content-Sha256") != hex.EncodeToString(sum[:]):
		s.answer(w, 400, "XAmzContentSHA256Mismatch")
		return
	case s.policy != nil && !s.policy(r):
		s.answer(w, 403, "AccessDenied")
		return
	}
	key := strings.TrimPrefix(r.URL.Path, "/")
	if !s.hostStyle {
		name, rest, _ := strings.Cut(key, "/")
		if key = rest; name != "backup" {
			s.answer(w, 404, "NoSuchBucket")
			return
		}
	}
	switch r.Method {
	case "PUT":
		if m := md5.Sum(body); r.Header.Get("Content-Md5") != base64.StdEncoding.EncodeToString(m[:]) {
			s.answer(w, 400, "BadDigest")
			return
		}
		if r.Header.Get("If-None-Match") != "" && s.conditions != "ignored" {
			if s.conditions == "501" {
				s.answer(w, 501, "NotImplemented")
				return
			}
			if _, ok := s.objects[key]; ok {
				s.answer(w, 412, "PreconditionFailed")
				return
			}
		}
		if f.drop == "torn" {
			body = body[:len(body)/2]
		}
		if _, ok := s.objects[key]; !ok {
			s.order = append(s.order, key)
		}
		s.objects[key] = body
	case "GET":
		if r.URL.Query().Get("list-type") == "2" {
			s.list(w, r.URL.Query())
			return
		}
		have, ok := s.objects[key]
		if !ok {
			s.answer(w, 404, "NoSuchKey")
			return
		}
		if f.drop == "torn" {
			w.Header().Set("Content-Length", strconv.Itoa(len(have)))
			have = have[:len(have)/2]
		}
		w.Write(have)
	case "DELETE":
		delete(s.objects, key)
		s.order = slices.DeleteFunc(s.order, func(name string) bool { return name == key })
		w.WriteHeader(204)
	}
	if f.drop == "after" || f.drop == "torn" && r.Method == "PUT" {
		drop()
	}
}

// list answers in the order of writing, newest first, page by page.
func (s *server) list(w http.ResponseWriter, query url.Values) {
	var names []string
	for _, name := range append(slices.Clone(s.order), s.foreign...) {
		if strings.HasPrefix(name, query.Get("prefix")) || slices.Contains(s.foreign, name) {
			names = append(names, name)
		}
	}
	slices.Reverse(names)
	from, _ := strconv.Atoi(strings.TrimSuffix(query.Get("continuation-token"), "+/="))
	to := min(from+s.page, len(names))
	var out bytes.Buffer
	out.WriteString(xml.Header + `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>backup</Name><EncodingType>url</EncodingType>`)
	for _, name := range names[from:to] {
		fmt.Fprintf(&out, "<Contents><Key>%s</Key><Size>%d</Size><LastModified>2026-01-02T03:04:05.000Z</LastModified></Contents>", url.QueryEscape(name), len(s.objects[name]))
	}
	if to < len(names) {
		fmt.Fprintf(&out, "<IsTruncated>true</IsTruncated><NextContinuationToken>%d+/=</NextContinuationToken>", to)
	}
	out.WriteString("</ListBucketResult>")
	w.Write(out.Bytes())
}
