package bucket

import (
	"bytes"
	"cmp"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// s3 is a bucket of an S3-compatible server. An object is put by one signed request, whose body is in memory with its MD5 and SHA-256 in headers:
// the form that every such server takes.
type s3 struct {
	client      *http.Client
	wallet      *wallet
	endpoint    *url.URL // nil: that of AWS in the region
	bucket      string
	prefix      string // of all names, "" or with a "/" at its end
	pathStyle   bool   // the bucket is in the path of a URL, not in its host
	conditional bool
	timeout     time.Duration // without progress
	pause       time.Duration // before the second attempt; it doubles

	unsupported atomic.Bool // the server answered 501 to a condition

	mu     sync.Mutex
	region string        // as given, until the server names another
	skew   time.Duration // what the server's clock is ahead of ours, once it refused a request for that
}

var _ Conditional = (*s3)(nil)

// openS3 reads the URL, the environment and the profile; it sends nothing.
func openS3(address string, o Options) (Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.User != nil || u.Fragment != "" {
		shown, _, _ := strings.Cut(address, "?") // a secret may be anywhere in what cannot be read
		if i := strings.LastIndexByte(shown, '@'); i >= 0 {
			shown = "s3://…" + shown[i:]
		}
		return nil, &URLError{shown, "this is no URL of a bucket", "Use s3://bucket/prefix. Credentials do not belong into it: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use a profile."}
	}
	wrong := func(reason, next string) (Bucket, error) { return nil, &URLError{address, reason, next} }
	query := u.Query()
	for key := range query {
		if key != "endpoint" && key != "region" && key != "profile" && key != "style" {
			return wrong(fmt.Sprintf("it has an unknown setting %q", key), "The settings are endpoint, region, profile and style.")
		}
	}
	b := &s3{bucket: u.Host, conditional: o.Conditional, timeout: o.Timeout, pause: 200 * time.Millisecond}
	if b.timeout <= 0 {
		b.timeout = 30 * time.Second
	}
	if o.Limit > 0 {
		b.timeout += slow(o.Limit)
	}
	if !plain(b.bucket, "._-") || b.bucket[0] == '.' {
		return wrong("it names no bucket", "Use s3://bucket/prefix.")
	}
	if b.prefix = strings.Trim(u.Path, "/"); b.prefix != "" {
		for part := range strings.SplitSeq(b.prefix, "/") {
			if !plain(part, "._-") || part == "." || part == ".." {
				return wrong("its prefix has characters that servers treat differently", `Use letters, digits, ".", "_" and "-".`)
			}
		}
		b.prefix += "/"
	}
	if len(b.prefix) > 400 {
		return wrong("its prefix is too long", "Use at most 400 characters.")
	}

	b.connect(o, query.Get("profile"))
	profile, _, _ := b.wallet.readProfile() // what is wrong with it is an error when credentials are wanted

	endpoint := cmp.Or(query.Get("endpoint"), o.getenv("AWS_ENDPOINT_URL_S3"), o.getenv("AWS_ENDPOINT_URL"), profile["endpoint_url"])
	if endpoint != "" {
		if !strings.Contains(endpoint, "://") {
			endpoint = "https://" + endpoint
		}
		b.endpoint, err = url.Parse(endpoint)
		if err != nil || b.endpoint.Host == "" || b.endpoint.Scheme != "https" && b.endpoint.Scheme != "http" || b.endpoint.User != nil || b.endpoint.RawQuery != "" {
			return wrong("its endpoint is no address of a server", "Write it as endpoint=https://host, or set AWS_ENDPOINT_URL_S3 to https://host.")
		}
	}
	b.region = cmp.Or(query.Get("region"), o.getenv("AWS_REGION"), o.getenv("AWS_DEFAULT_REGION"), profile["region"], regionOf(b.endpoint), "us-east-1")
	if !plain(b.region, "-") {
		return wrong("its region is no name of a region", "Write it as region=us-east-1.")
	}
	b.wallet.region = b.region
	switch style := query.Get("style"); style {
	case "path":
		b.pathStyle = true
	case "host":
	case "":
		b.pathStyle = b.endpoint != nil || strings.ContainsAny(b.bucket, "._") // certificates of AWS are for names without further dots
	default:
		return wrong(fmt.Sprintf("it has an unknown style %q", style), "Use style=path or style=host.")
	}
	return b, nil
}

// connect makes the clients for the bucket, and for the credentials.
func (b *s3) connect(o Options, profile string) {
	transport := o.Transport
	direct := o.Transport
	if transport == nil {
		own := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 32, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second, DisableCompression: true}
		if o.Limit > 0 {
			limit := limiter(o.Limit)
			own.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return limitedConn{conn, limit}, nil
			}
		}
		transport, direct = own, &http.Transport{TLSHandshakeTimeout: 10 * time.Second}
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // a signature is for one host
	b.client = &http.Client{Transport: transport, CheckRedirect: stay}
	b.wallet = &wallet{getenv: o.getenv, home: o.Home, profile: profile, client: b.client, direct: &http.Client{Transport: direct, CheckRedirect: stay}}
}

// plain reports whether a text has ASCII letters, digits and those of others alone, and at least one of them.
func plain(text, others string) bool {
	for _, c := range []byte(text) {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return text != ""
}

// regionOf takes the region from an endpoint that names it, as s3.eu-central-003.backblazeb2.com does.
func regionOf(endpoint *url.URL) string {
	if endpoint == nil {
		return ""
	}
	labels := strings.Split(endpoint.Hostname(), ".")
	if len(labels) < 4 || labels[0] != "s3" || !strings.Contains(labels[1], "-") {
		return ""
	}
	return labels[1]
}

func (b *s3) Put(ctx context.Context, name string, body []byte) error {
	if b.conditional && !b.unsupported.Load() {
		err := b.PutNew(ctx, name, body)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			b.unsupported.Store(true)
		case errors.Is(err, fs.ErrExist):
			// Most likely this is our own object, whose answer was lost. It may also be torn, and then it must be replaced.
			there, err := b.Get(ctx, name, int64(len(body)))
			if err == nil && bytes.Equal(there, body) || errors.As(err, new(*DeniedError)) { // who may not read relies on the condition
				return nil
			}
			if err != nil && !errors.As(err, new(*TooLargeError)) && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		default:
			return err
		}
	}
	_, err := b.send(ctx, request{method: http.MethodPut, op: "put", name: name, body: body})
	return about("put", name, err)
}

func (b *s3) PutNew(ctx context.Context, name string, body []byte) error {
	_, err := b.send(ctx, request{method: http.MethodPut, op: "put", name: name, body: body, header: []string{"If-None-Match", "*"}})
	if refused, ok := errors.AsType[*statusError](err); ok {
		switch {
		case refused.status == http.StatusPreconditionFailed:
			err = fs.ErrExist
		case refused.status == http.StatusNotImplemented, refused.status == http.StatusBadRequest && (refused.code == "NotImplemented" || refused.code == "InvalidArgument" || refused.code == "InvalidRequest"):
			err = errors.ErrUnsupported
		}
	}
	return about("put", name, err)
}

func (b *s3) Get(ctx context.Context, name string, limit int64) ([]byte, error) {
	a, err := b.send(ctx, request{method: http.MethodGet, op: "get", name: name, limit: limit})
	if err != nil {
		return nil, about("get", name, err)
	}
	return a.body, nil
}

func (b *s3) Delete(ctx context.Context, name string) error {
	_, err := b.send(ctx, request{method: http.MethodDelete, op: "delete", name: name})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return about("delete", name, err)
}

// page is the answer to a request for a listing, of its second version.
type page struct {
	XMLName      xml.Name `xml:"ListBucketResult"`
	EncodingType string
	IsTruncated  bool
	Token        string `xml:"NextContinuationToken"`
	Contents     []struct {
		Key          string
		Size         int64
		LastModified string
	}
}

// What a listing may have: an answer, and all answers together.
const (
	maxPage  = 16 << 20 // bytes
	maxPages = 1000     // of up to 1,000 names
)

func (b *s3) List(ctx context.Context, prefix string) ([]Object, error) {
	if err := CheckPrefix(prefix); err != nil {
		return nil, err
	}
	var found []Object
	token := ""
	for range maxPages {
		// Names are asked for in the encoding of URLs: a foreign one may have bytes that XML cannot carry.
		query := url.Values{"list-type": {"2"}, "prefix": {b.prefix + prefix}, "encoding-type": {"url"}, "max-keys": {"1000"}}
		if token != "" {
			query.Set("continuation-token", token)
		}
		a, err := b.send(ctx, request{method: http.MethodGet, op: "list", query: query, limit: maxPage})
		if err != nil {
			return nil, about("list", prefix+"*", err)
		}
		var p page
		if err := xml.Unmarshal(a.body, &p); err != nil {
			return nil, about("list", prefix+"*", fmt.Errorf("the answer is no listing: %w", err))
		}
		for _, o := range p.Contents {
			key := o.Key
			if p.EncodingType == "url" {
				if key, err = url.QueryUnescape(key); err != nil {
					continue
				}
			}
			name, ours := strings.CutPrefix(key, b.prefix)
			written, err := time.Parse(time.RFC3339, o.LastModified)
			if ours && err == nil {
				found = append(found, Object{name, o.Size, written})
			}
		}
		if !p.IsTruncated {
			return listing(found, prefix), nil
		}
		if p.Token == "" || p.Token == token {
			return nil, about("list", prefix+"*", errors.New("the server says that there is more, and not how to ask for it"))
		}
		token = p.Token
	}
	return nil, about("list", prefix+"*", errors.New("the listing does not end after "+strconv.Itoa(maxPages)+" answers"))
}

// target is the URL of an object, or of the bucket for the name "".
func (b *s3) target(name string, query url.Values) *url.URL {
	u := &url.URL{Scheme: "https", Path: "/"}
	if b.endpoint != nil {
		u.Scheme, u.Host, u.Path = b.endpoint.Scheme, b.endpoint.Host, strings.TrimSuffix(b.endpoint.Path, "/")+"/"
	} else {
		u.Host = "s3." + awsHost(b.currentRegion())
	}
	if b.pathStyle {
		u.Path += b.bucket + "/"
	} else {
		u.Host = b.bucket + "." + u.Host
	}
	if name != "" {
		u.Path += b.prefix + name
	}
	u.RawQuery = query.Encode()
	return u
}

// awsHost is the part of an address of AWS after the service.
func awsHost(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return region + ".amazonaws.com.cn"
	}
	return region + ".amazonaws.com"
}

func (b *s3) currentRegion() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.region
}

// contentMD5 is the header that makes a server refuse a body that changed on its way.
func contentMD5(body []byte) string {
	sum := md5.Sum(body)
	return base64.StdEncoding.EncodeToString(sum[:])
}
