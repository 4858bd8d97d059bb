package bucket

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// refreshBefore is how long before their end credentials are renewed.
const refreshBefore = 5 * time.Minute

// wallet finds credentials where the programs of AWS look for them, in their order, and keeps them until they end. It is safe for concurrent use.
type wallet struct {
	getenv  func(string) string
	home    string
	profile string // that the URL names; it goes before the environment
	region  string
	client  *http.Client // for the internet
	direct  *http.Client // for addresses of the machine: without a proxy

	mu  sync.Mutex
	got aws.Credentials
}

// get returns credentials that are good for some minutes more. Errors: *DeniedError, *UnreachableError.
func (w *wallet) get(ctx context.Context) (aws.Credentials, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.got.HasKeys() && (!w.got.CanExpire || time.Until(w.got.Expires) > refreshBefore) {
		return w.got, nil
	}
	got, err := w.find(ctx)
	if err != nil {
		if w.got.HasKeys() && !w.got.Expired() {
			return w.got, nil
		}
		return aws.Credentials{}, err
	}
	w.got = got
	return got, nil
}

// expire forgets the credentials, since the server says that their time is over; it reports whether new ones can be had.
func (w *wallet) expire() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	renewable := w.got.CanExpire
	w.got = aws.Credentials{Source: w.got.Source}
	return renewable
}

func (w *wallet) source() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.got.Source, "the environment")
}

// find asks the sources in turn. One that is configured and fails ends the search, so that no other identity is taken in its place.
func (w *wallet) find(ctx context.Context) (aws.Credentials, error) {
	if w.profile == "" {
		key, secret := w.getenv("AWS_ACCESS_KEY_ID"), w.getenv("AWS_SECRET_ACCESS_KEY")
		if (key == "") != (secret == "") {
			return aws.Credentials{}, refuse("the environment", "Set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.", errors.New("one of the two keys is missing"))
		}
		if key != "" {
			return aws.Credentials{AccessKeyID: key, SecretAccessKey: secret, SessionToken: w.getenv("AWS_SESSION_TOKEN"), Source: "the variable AWS_ACCESS_KEY_ID"}, nil
		}
		if file, role := w.getenv("AWS_WEB_IDENTITY_TOKEN_FILE"), w.getenv("AWS_ROLE_ARN"); file != "" && role != "" {
			return w.webIdentity(ctx, file, role, w.getenv("AWS_ROLE_SESSION_NAME"))
		}
	}
	got, err := w.fromProfile(ctx)
	if err != nil || got.HasKeys() {
		return got, err
	}
	if got, err = w.container(ctx); err != nil || got.HasKeys() {
		return got, err
	}
	if got, err = w.instance(ctx); err != nil || got.HasKeys() {
		return got, err
	}
	return aws.Credentials{}, refuse("this machine", "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write a profile into ~/.aws/credentials.", errors.New("there are no credentials for the bucket"))
}

// refuse is the error of a source that gives no credentials; one that did not answer is out of reach.
func refuse(source, next string, err error) error {
	if errors.As(err, new(*UnreachableError)) {
		return err
	}
	return &DeniedError{source, next, err}
}

// issued is what programs and services of a machine answer with.
type issued struct {
	AccessKeyID     string `json:"AccessKeyId"`
	SecretAccessKey string
	SessionToken    string // of a program
	Token           string // of a service
	Expiration      string // RFC 3339; "": never
}

func parseIssued(data []byte, source string) (aws.Credentials, error) {
	var i issued
	if err := json.Unmarshal(data, &i); err != nil {
		return aws.Credentials{}, fmt.Errorf("the answer is no JSON: %w", err)
	}
	return i.credentials(source)
}

func (i issued) credentials(source string) (aws.Credentials, error) {
	c := aws.Credentials{AccessKeyID: i.AccessKeyID, SecretAccessKey: i.SecretAccessKey, SessionToken: cmp.Or(i.SessionToken, i.Token), Source: source}
	if !c.HasKeys() {
		return c, errors.New("the answer has no keys")
	}
	if i.Expiration != "" {
		at, err := time.Parse(time.RFC3339, i.Expiration)
		if err != nil {
			return c, err
		}
		c.CanExpire, c.Expires = true, at
	}
	return c, nil
}

// The addresses at which a container and an instance find their credentials.
const (
	containerHost = "http://169.254.170.2"
	instanceHost  = "http://169.254.169.254"
)

// container asks the agent of ECS, or of the pod identity of EKS. Without one, it returns no keys.
func (w *wallet) container(ctx context.Context) (aws.Credentials, error) {
	const source = "the role of the container"
	address := w.getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if relative := w.getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); relative != "" {
		address = containerHost + "/" + strings.TrimPrefix(relative, "/")
	}
	if address == "" {
		return aws.Credentials{}, nil
	}
	fail := func(err error) (aws.Credentials, error) {
		return aws.Credentials{}, refuse(source, "Check the variables AWS_CONTAINER_… of this container.", err)
	}
	u, err := url.Parse(address)
	if err != nil {
		return fail(errors.New("the address is no URL"))
	}
	switch host := u.Hostname(); { // the token must not go to anyone in clear text
	case u.Scheme == "https":
	case u.Scheme == "http" && (host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.") || host == "169.254.170.2" || host == "169.254.170.23" || host == "fd00:ec2::23"):
	default:
		return fail(fmt.Errorf("the host %s is no address from which a container gets credentials", host))
	}
	header := map[string]string{"Authorization": w.getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN")}
	if file := w.getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); file != "" {
		token, err := vfs.ReadRegular(file, 0)
		if err != nil {
			return fail(err)
		}
		header["Authorization"] = strings.TrimSpace(string(token))
	}
	body, err := w.ask(ctx, w.direct, http.MethodGet, address, header, nil, 5*time.Second)
	if err != nil {
		return fail(err)
	}
	got, err := parseIssued(body, source)
	if err != nil {
		return fail(err)
	}
	return got, nil
}

// instance asks the metadata service of a virtual machine, version 2. Where it is missing, or the machine has no role, there are no keys.
func (w *wallet) instance(ctx context.Context) (aws.Credentials, error) {
	if strings.EqualFold(w.getenv("AWS_EC2_METADATA_DISABLED"), "true") {
		return aws.Credentials{}, nil
	}
	host := strings.TrimSuffix(cmp.Or(w.getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT"), instanceHost), "/")
	token, err := w.ask(ctx, w.direct, http.MethodPut, host+"/latest/api/token", map[string]string{"X-aws-ec2-metadata-token-ttl-seconds": "21600"}, nil, time.Second)
	if err != nil {
		return aws.Credentials{}, ctx.Err()
	}
	const roles = "/latest/meta-data/iam/security-credentials/"
	header := map[string]string{"X-aws-ec2-metadata-token": string(token)}
	role, err := w.ask(ctx, w.direct, http.MethodGet, host+roles, header, nil, 5*time.Second)
	name, _, _ := strings.Cut(strings.TrimSpace(string(role)), "\n")
	if err != nil || name == "" {
		return aws.Credentials{}, ctx.Err()
	}
	body, err := w.ask(ctx, w.direct, http.MethodGet, host+roles+url.PathEscape(name), header, nil, 5*time.Second)
	var got aws.Credentials
	if err == nil {
		got, err = parseIssued(body, "the role of the virtual machine")
	}
	if err != nil {
		return got, refuse("the role of the virtual machine", "Check the role of this virtual machine.", err)
	}
	return got, nil
}

// webIdentity exchanges the token in a file for credentials of a role.
func (w *wallet) webIdentity(ctx context.Context, file, role, session string) (aws.Credentials, error) {
	const source = "the web identity"
	fail := func(err error) (aws.Credentials, error) {
		return aws.Credentials{}, refuse(source, "Check the token file of the web identity, and that the role trusts it.", err)
	}
	token, err := vfs.ReadRegular(file, 0)
	if err != nil {
		return fail(err)
	}
	form := url.Values{"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"}, "RoleArn": {role}, "RoleSessionName": {cmp.Or(session, "rewind")}, "WebIdentityToken": {strings.TrimSpace(string(token))}}
	address := cmp.Or(w.getenv("AWS_ENDPOINT_URL_STS"), "https://sts."+awsHost(w.region))
	body, err := w.ask(ctx, w.client, http.MethodPost, address, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, []byte(form.Encode()), 30*time.Second)
	if err != nil {
		return fail(err)
	}
	var answer struct {
		Credentials struct {
			AccessKeyID     string `xml:"AccessKeyId"`
			SecretAccessKey string
			SessionToken    string
			Expiration      string
		} `xml:"AssumeRoleWithWebIdentityResult>Credentials"`
	}
	if err := xml.Unmarshal(body, &answer); err != nil {
		return fail(fmt.Errorf("the answer is no XML: %w", err))
	}
	c := answer.Credentials
	got, err := issued{AccessKeyID: c.AccessKeyID, SecretAccessKey: c.SecretAccessKey, SessionToken: c.SessionToken, Expiration: c.Expiration}.credentials(source)
	if err != nil {
		return fail(err)
	}
	return got, nil
}

// ask sends a request that needs no signature, once, and returns the body of a success.
func (w *wallet) ask(ctx context.Context, client *http.Client, method, address string, header map[string]string, body []byte, limit time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range header {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, &UnreachableError{req.URL.Host, errors.Unwrap(err)} // the outer text has the whole URL
	}
	defer resp.Body.Close()
	data, err := readAll(resp.Body, "credentials", 64<<10)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		var answer struct {
			Message string `xml:"Error>Message"`
		}
		_ = xml.Unmarshal(data, &answer) // not every server says why
		return nil, &statusError{resp.StatusCode, "", clean(answer.Message, 300)}
	}
	return data, nil
}
