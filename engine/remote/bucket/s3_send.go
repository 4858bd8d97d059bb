package bucket

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// attempts bounds how often a request is sent; with the pauses between them, a server that is out of order is given up after some 3 seconds.
const attempts = 5

// maxPause bounds the pause that a server asks for.
const maxPause = 20 * time.Second

// skewed is how far two clocks must be apart before a refused request is signed again by the server's; S3 allows 15 minutes.
const skewed = 4 * time.Minute

var errStalled = errors.New("no progress")

// request is one that can be sent again.
type request struct {
	method string
	op     string // for errors
	name   string // "" for the bucket itself
	query  url.Values
	header []string // names and values in turn
	body   []byte
	limit  int64 // of the answer's body, in bytes
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

// statusError is an answer that is an error, and which of the package's errors it is depends on the request.
type statusError struct {
	status  int
	code    string // "" where the server gave none
	message string
}

func (e *statusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("the server answers %d %s %s", e.status, e.code, e.message))
}

// send sends a request until it is answered, and corrects clock, region and credentials once each where the server refuses for them. The answer is a
// success. Errors: those of the package, fs.ErrNotExist, *statusError.
func (b *s3) send(ctx context.Context, r request) (*answer, error) {
	if r.name != "" || r.op != "list" {
		if err := CheckName(r.name); err != nil {
			return nil, err
		}
	}
	var learned lessons
	for attempt := 0; ; attempt++ {
		if err := ctx.Err(); err != nil {
			return nil, b.ended(err)
		}
		a, err := b.once(ctx, r)
		if err == nil && a.status < 300 {
			return a, nil
		}
		if ended := ctx.Err(); ended != nil {
			return nil, b.ended(ended)
		}
		var refused *statusError
		if err == nil {
			refused = refusal(a)
			if b.learn(a, refused, &learned) {
				attempt--
				continue
			}
		}
		if attempt+1 >= attempts || !again(refused, err) {
			return nil, b.verdict(r, refused, err)
		}
		pause := b.pause << attempt
		pause += time.Duration(rand.Int64N(int64(pause)/2 + 1))
		if refused != nil {
			if s, err := strconv.Atoi(a.header.Get("Retry-After")); err == nil && s > 0 {
				pause = min(time.Duration(s)*time.Second, maxPause)
			}
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
		}
	}
}

// ended is the error of a call whose context ended.
func (b *s3) ended(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &UnreachableError{b.host(), err}
	}
	return err
}

func (b *s3) host() string { return b.target("", nil).Host }

// once signs and sends a request, and reads the answer.
func (b *s3) once(ctx context.Context, r request) (*answer, error) {
	identity, err := b.wallet.get(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(b.timeout, func() { cancel(errStalled) })
	defer timer.Stop()
	progress := func() { timer.Reset(b.timeout) }

	req, err := http.NewRequestWithContext(ctx, r.method, b.target(r.name, r.query).String(), nil)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(r.body)
	hash := hex.EncodeToString(sum[:])
	req.Header.Set("X-Amz-Content-Sha256", hash)
	req.Header.Set("User-Agent", "rewind")
	if r.method == http.MethodPut {
		req.ContentLength = int64(len(r.body))
		if len(r.body) > 0 {
			req.GetBody = func() (io.ReadCloser, error) {
				return io.NopCloser(moving{bytes.NewReader(r.body), progress}), nil
			}
			req.Body, _ = req.GetBody()
		}
		req.Header.Set("Content-Md5", contentMD5(r.body))
		req.Header.Set("Content-Type", "application/octet-stream")
	}
	for i := 0; i < len(r.header); i += 2 {
		req.Header.Set(r.header[i], r.header[i+1])
	}
	b.mu.Lock()
	region, now := b.region, time.Now().Add(b.skew).UTC()
	b.mu.Unlock()
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err := signer.SignHTTP(ctx, identity, req, hash, "s3", region, now); err != nil {
		return nil, err
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return nil, stalled(ctx, err)
	}
	defer resp.Body.Close()
	limit := r.limit
	if resp.StatusCode >= 300 || r.method != http.MethodGet {
		limit = 64 << 10
	}
	body, err := readAll(moving{resp.Body, progress}, r.name, limit)
	if err != nil && (resp.StatusCode < 300 && r.method == http.MethodGet) { // else the status says it all
		return nil, stalled(ctx, err)
	}
	return &answer{resp.StatusCode, resp.Header, body}, nil
}

// moving tells that bytes move.
type moving struct {
	io.Reader
	progress func()
}

func (m moving) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if n > 0 {
		m.progress()
	}
	return n, err
}

// stalled puts the reason in the place of the cancellation that it caused.
func stalled(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause == errStalled {
		return errStalled
	}
	return err
}

// refusal reads an answer that is an error. What the server says is cut, and has no control characters.
func refusal(a *answer) *statusError {
	var answer struct {
		Code    string
		Message string
	}
	_ = xml.Unmarshal(a.body, &answer) // a proxy answers with something else
	return &statusError{a.status, clean(answer.Code, 60), clean(answer.Message, 300)}
}

func clean(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return strings.TrimSpace(text)
}

// lessons are what one call took from refusals.
type lessons struct{ clock, region, credentials bool }

// learn takes from a refusal what was wrong with the request, and reports whether it should be sent again at once.
func (b *s3) learn(a *answer, refused *statusError, l *lessons) bool {
	switch a.status {
	case http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden:
	default:
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if date, err := http.ParseTime(a.header.Get("Date")); err == nil && !l.clock {
		if apart := time.Until(date) - b.skew; apart.Abs() > skewed {
			b.skew += apart
			l.clock = true
			return true
		}
	}
	var answer struct{ Region string }
	_ = xml.Unmarshal(a.body, &answer)
	if region := cmp.Or(a.header.Get("X-Amz-Bucket-Region"), answer.Region); region != "" && region != b.region && plain(region, "-") && !l.region {
		b.region = region
		l.region = true
		return true
	}
	switch refused.code {
	case "ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "InvalidToken":
		if !l.credentials {
			l.credentials = true
			return b.wallet.expire()
		}
	}
	return false
}

// again reports whether the same request may succeed in a moment.
func again(refused *statusError, err error) bool {
	if refused != nil {
		switch refused.status {
		case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusConflict:
			return true
		case http.StatusBadRequest:
			return refused.code == "RequestTimeout"
		}
		return refused.status >= 500 && refused.status != http.StatusNotImplemented
	}
	var unknown *net.DNSError
	return !errors.Is(err, errStalled) && !errors.As(err, new(*DeniedError)) && !errors.As(err, new(*UnreachableError)) && !errors.As(err, new(*TooLargeError)) && !distrusted(err) &&
		!(errors.As(err, &unknown) && unknown.IsNotFound)
}

// distrusted reports whether the server's certificate is not good.
func distrusted(err error) bool {
	return errors.As(err, new(x509.UnknownAuthorityError)) || errors.As(err, new(x509.HostnameError)) || errors.As(err, new(x509.CertificateInvalidError))
}

// verdict is the error of a request that was given up.
func (b *s3) verdict(r request, refused *statusError, err error) error {
	switch {
	case errors.As(err, new(*DeniedError)), errors.As(err, new(*UnreachableError)), errors.As(err, new(*TooLargeError)):
		return err
	case errors.Is(err, errStalled):
		return &UnreachableError{b.host(), fmt.Errorf("%w for %v", errStalled, b.timeout)}
	case err != nil:
		var wrapped *url.Error // whose text has the whole URL
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return &UnreachableError{b.host(), err}
	}
	what := fmt.Errorf("%s %s: %w", r.op, cmp.Or(r.name, b.prefix+"*"), refused)
	switch refused.status {
	case http.StatusNotFound:
		if refused.code == "NoSuchBucket" || r.op == "put" || r.op == "list" {
			return &URLError{"s3://" + b.bucket, fmt.Sprintf("%s has no bucket of this name", b.host()), "Make the bucket there, or correct its name, the endpoint and the region."}
		}
		return fs.ErrNotExist
	case http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusPermanentRedirect, http.StatusFound:
		return &URLError{"s3://" + b.bucket, fmt.Sprintf("%s says that the bucket is somewhere else", b.host()), "Give its region, as in s3://bucket/prefix?region=eu-central-1, or its endpoint."}
	case http.StatusUnauthorized, http.StatusForbidden:
		return &DeniedError{b.host(), b.next(r, refused.code), what}
	case http.StatusTooManyRequests, http.StatusRequestTimeout:
		return &UnreachableError{b.host(), what}
	}
	switch refused.code {
	case "ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "InvalidToken", "InvalidAccessKeyId", "AuthorizationHeaderMalformed":
		return &DeniedError{b.host(), b.next(r, refused.code), what}
	}
	if refused.status >= 500 && refused.status != http.StatusNotImplemented {
		return &UnreachableError{b.host(), what}
	}
	return refused
}

// next says what to do about a refusal.
func (b *s3) next(r request, code string) string {
	source := b.wallet.source()
	switch code {
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "AuthorizationHeaderMalformed":
		return fmt.Sprintf("Check the access key, its secret and the region. The key is that of %s.", source)
	case "ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired":
		return fmt.Sprintf("Renew the credentials. They are those of %s.", source)
	case "RequestTimeTooSkewed":
		return "Set the clock of this machine."
	}
	rights := map[string]string{"put": "PutObject", "get": "GetObject", "list": "ListBucket", "delete": "DeleteObject"}
	return fmt.Sprintf("Allow s3:%s on s3://%s/%s to the access key of %s.", rights[r.op], b.bucket, b.prefix, source)
}
