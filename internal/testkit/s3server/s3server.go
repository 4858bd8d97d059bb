// Package s3server is a small S3 server for tests: it checks what it is sent, fails as it is told to, and keeps its objects in memory.
package s3server

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
)

// The keys that the server takes are those of the examples of AWS.
const (
	Key    = "AKIAIOSFODNN7EXAMPLE"
	Secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
)

// BucketName is the only bucket.
const BucketName = "backup"

// Signature computes the signature of a request by the text of Signature Version 4, independent of the client: TestSignatureExamples
// compares it with the published ones.
func Signature(r *http.Request, secret string) (string, error) {
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

// Failure is how the server fails one request.
type Failure struct {
	Status int    // answered before anything was done
	Code   string // of that answer
	Drop   string // the connection breaks "before" anything was done, "after" all was, or when the object was "torn": half of it is there
	Hang   time.Duration
	Header http.Header
	Then   func() // is called at the end of the request, before the connection breaks
}

// Server checks signature, hash, MD5, date and region of each request. Its fields are set before that.
type Server struct {
	URL        string
	Fail       func(n int, r *http.Request) Failure // n counts from 1
	Conditions string                               // "": honoured; "ignored"; "501"
	Page       int                                  // names of an answer to a listing; they are unsorted
	Ahead      time.Duration                        // of the clock
	Region     string
	Token      string // the session token that requests must have
	Policy     func(r *http.Request) bool
	Foreign    []string // names that are listed beside the objects

	t        *testing.T
	mu       sync.Mutex
	requests []string
	objects  map[string]object
	order    []string
}

type object struct {
	body []byte
	time time.Time
}

// New starts a server, until the end of the test.
func New(t *testing.T) *Server {
	s := &Server{t: t, Region: "us-east-1", Page: 1000, objects: map[string]object{}}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Env is the environment of a client that has the keys of the server.
func (s *Server) Env(more ...string) func(string) string {
	all := map[string]string{"AWS_ACCESS_KEY_ID": Key, "AWS_SECRET_ACCESS_KEY": Secret, "AWS_ENDPOINT_URL_S3": s.URL, "AWS_EC2_METADATA_DISABLED": "true"}
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return func(name string) string { return all[name] }
}

// Address is the URL of a place of its bucket, as a remote has it.
func (s *Server) Address(prefix string) string {
	return "s3://" + BucketName + "/" + prefix + "?endpoint=" + s.URL
}

// Environ is what the environment of a process needs.
func (s *Server) Environ() []string {
	return []string{"AWS_ACCESS_KEY_ID=" + Key, "AWS_SECRET_ACCESS_KEY=" + Secret, "AWS_REGION=" + s.Region}
}

// Requests are those that came, as "PUT /backup/name".
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Names are those of the objects, in the order of writing.
func (s *Server) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.order)
}

// Change changes fields while the server is at work.
func (s *Server) Change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// Keep returns what brings the objects back that there are now.
func (s *Server) Keep() (back func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	objects, order := maps.Clone(s.objects), slices.Clone(s.order)
	return func() {
		s.Change(func() { s.objects, s.order = maps.Clone(objects), slices.Clone(order) })
	}
}

// Older makes all objects older.
func (s *Server) Older(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, o := range s.objects {
		s.objects[name] = object{o.body, o.time.Add(-by)}
	}
}

func (s *Server) answer(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>Words of the\nserver.</Message><Region>%s</Region></Error>", code, s.Region)
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now().Add(s.Ahead)
	w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	var f Failure
	if s.Fail != nil {
		f = s.Fail(len(s.requests), r)
	}
	then := sync.OnceFunc(func() {
		if f.Then != nil {
			f.Then()
		}
	})
	defer then()
	drop := func() {
		then()
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.Close()
		}
	}
	if f.Hang > 0 {
		s.mu.Unlock()
		select {
		case <-r.Context().Done():
		case <-time.After(f.Hang):
		}
		s.mu.Lock()
	}
	for name, values := range f.Header {
		w.Header()[name] = values
	}
	switch {
	case f.Status != 0:
		s.answer(w, f.Status, f.Code)
		return
	case f.Drop == "before":
		drop()
		return
	}
	want, err := Signature(r, Secret)
	date, derr := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential="+Key+"/")
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
	case !strings.HasPrefix(scope[9:], s.Region+"/s3/aws4_request"):
		s.answer(w, 400, "AuthorizationHeaderMalformed")
		return
	case r.Header.Get("X-Amz-Security-Token") != s.Token:
		s.answer(w, 400, "ExpiredToken")
		return
	case !strings.HasSuffix(r.Header.Get("Authorization"), "Signature="+want):
		s.answer(w, 403, "SignatureDoesNotMatch")
		return
	case r.Header.Get("X-Amz-Content-Sha256") != hex.EncodeToString(sum[:]):
		s.answer(w, 400, "XAmzContentSHA256Mismatch")
		return
	case s.Policy != nil && !s.Policy(r):
		s.answer(w, 403, "AccessDenied")
		return
	}
	name, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if name != BucketName {
		s.answer(w, 404, "NoSuchBucket")
		return
	}
	switch r.Method {
	case "PUT":
		if m := md5.Sum(body); r.Header.Get("Content-Md5") != base64.StdEncoding.EncodeToString(m[:]) {
			s.answer(w, 400, "BadDigest")
			return
		}
		if r.Header.Get("If-None-Match") != "" && s.Conditions != "ignored" {
			if s.Conditions == "501" {
				s.answer(w, 501, "NotImplemented")
				return
			}
			if _, ok := s.objects[key]; ok {
				s.answer(w, 412, "PreconditionFailed")
				return
			}
		}
		if f.Drop == "torn" {
			body = body[:len(body)/2]
		}
		if _, ok := s.objects[key]; !ok {
			s.order = append(s.order, key)
		}
		s.objects[key] = object{body, now}
	case "GET":
		if r.URL.Query().Get("list-type") == "2" {
			s.list(w, r.URL.Query())
			return
		}
		o, ok := s.objects[key]
		have := o.body
		if !ok {
			s.answer(w, 404, "NoSuchKey")
			return
		}
		if f.Drop == "torn" {
			w.Header().Set("Content-Length", strconv.Itoa(len(have)))
			have = have[:len(have)/2]
		}
		w.Write(have)
	case "DELETE":
		delete(s.objects, key)
		s.order = slices.DeleteFunc(s.order, func(name string) bool { return name == key })
		w.WriteHeader(204)
	}
	if f.Drop == "after" || f.Drop == "torn" && r.Method == "PUT" {
		drop()
	}
}

// list answers in the order of writing, newest first, page by page.
func (s *Server) list(w http.ResponseWriter, query url.Values) {
	var names []string
	for _, name := range append(slices.Clone(s.order), s.Foreign...) {
		if strings.HasPrefix(name, query.Get("prefix")) || slices.Contains(s.Foreign, name) {
			names = append(names, name)
		}
	}
	slices.Reverse(names)
	from, _ := strconv.Atoi(strings.TrimSuffix(query.Get("continuation-token"), "+/="))
	to := min(from+s.Page, len(names))
	var out bytes.Buffer
	out.WriteString(xml.Header + `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>backup</Name><EncodingType>url</EncodingType>`)
	for _, name := range names[from:to] {
		fmt.Fprintf(&out, "<Contents><Key>%s</Key><Size>%d</Size><LastModified>%s</LastModified></Contents>", url.QueryEscape(name), len(s.objects[name].body), s.objects[name].time.UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	if to < len(names) {
		fmt.Fprintf(&out, "<IsTruncated>true</IsTruncated><NextContinuationToken>%d+/=</NextContinuationToken>", to)
	}
	out.WriteString("</ListBucketResult>")
	w.Write(out.Bytes())
}
