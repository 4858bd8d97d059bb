package bucket_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/internal/testkit/s3server"
)

// issuer plays the services that hand out credentials; each answer has the next token.
func issuer(t *testing.T, lifetime time.Duration) (url string, asked *int) {
	asked = new(int)
	mux := http.NewServeMux()
	answer := func(token string) string {
		*asked++
		return fmt.Sprintf(`{"Code":"Success","Version":1,"AccessKeyId":%q,"SecretAccessKey":%q,%q:"token-%d","Expiration":%q}`, s3server.Key, s3server.Secret, token, *asked, time.Now().Add(lifetime).UTC().Format(time.RFC3339))
	}
	mux.HandleFunc("PUT /latest/api/token", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds") == "" {
			http.Error(w, "", http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, "session")
	})
	mux.HandleFunc("GET /latest/meta-data/iam/security-credentials/{role...}", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("X-Aws-Ec2-Metadata-Token") != "session":
			http.Error(w, "", http.StatusUnauthorized)
		case r.PathValue("role") == "":
			fmt.Fprint(w, "the-role\n")
		default:
			fmt.Fprint(w, answer("Token"))
		}
	})
	mux.HandleFunc("GET /container", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer x" {
			http.Error(w, "", http.StatusForbidden)
			return
		}
		fmt.Fprint(w, answer("Token"))
	})
	mux.HandleFunc("POST /sts", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("Action") != "AssumeRoleWithWebIdentity" || r.FormValue("WebIdentityToken") != "jwt" || r.FormValue("RoleArn") != "arn:role" || r.FormValue("RoleSessionName") != "rewind" {
			w.WriteHeader(400)
			fmt.Fprint(w, `<ErrorResponse><Error><Code>InvalidIdentityToken</Code><Message>The token is not valid.</Message></Error></ErrorResponse>`)
			return
		}
		*asked++
		fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken>token-%d</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
			s3server.Key, s3server.Secret, *asked, time.Now().Add(lifetime).UTC().Format(time.RFC3339))
	})
	h := httptest.NewServer(mux)
	t.Cleanup(h.Close)
	return h.URL, asked
}

func write(t *testing.T, file, text string) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o700)); err != nil {
		t.Fatal(err)
	}
	return file
}

// bare is an environment that has the server's address and nothing else but what is given.
func bare(s *s3server.Server, more ...string) func(string) string {
	return s.Env(append([]string{"AWS_ACCESS_KEY_ID", "", "AWS_SECRET_ACCESS_KEY", ""}, more...)...)
}

func TestCredentials(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs of the test are scripts of a shell")
	}
	keys := "aws_access_key_id = " + s3server.Key + "\naws_secret_access_key=" + s3server.Secret + " # the secret\n"
	url, _ := issuer(t, time.Hour)
	dir := t.TempDir()
	jwt, bearer := write(t, dir+"/jwt", "jwt\n"), write(t, dir+"/bearer", "Bearer x\n")
	write(t, dir+"/bin/aws", "#!/bin/sh\necho '{\"AccessKeyId\":\""+s3server.Key+"\",\"SecretAccessKey\":\""+s3server.Secret+"\",\"SessionToken\":\"'$*'\"}'\n")
	t.Setenv("PATH", dir+"/bin:"+os.Getenv("PATH"))
	process := write(t, dir+"/process", "#!/bin/sh\necho '{\"Version\":1,\"AccessKeyId\":\""+s3server.Key+"\",\"SecretAccessKey\":\""+s3server.Secret+"\",\"SessionToken\":\"'$1'\"}'\n")
	for kind, c := range map[string]struct {
		env           []string
		config, creds string // files
		query         string
		token         string
	}{
		"session token":         {env: []string{"AWS_ACCESS_KEY_ID", s3server.Key, "AWS_SECRET_ACCESS_KEY", s3server.Secret, "AWS_SESSION_TOKEN", "tok"}, token: "tok"},
		"default profile":       {creds: "# mine\n[other]\naws_access_key_id=x\naws_secret_access_key=x\n[default]\n" + keys},
		"default in config":     {config: "[default]\n" + keys},
		"credentials go first":  {config: "[profile p]\naws_access_key_id=x\naws_secret_access_key=y\nregion = us-east-1\ns3 =\n  aws_session_token = nested\n", creds: "[p]\n" + keys, env: []string{"AWS_PROFILE", "p"}},
		"profile of the URL":    {creds: "[p]\n" + keys, query: "?profile=p", env: []string{"AWS_ACCESS_KEY_ID", "x", "AWS_SECRET_ACCESS_KEY", "x"}},
		"environment first":     {env: []string{"AWS_ACCESS_KEY_ID", s3server.Key, "AWS_SECRET_ACCESS_KEY", s3server.Secret, "AWS_PROFILE", "p"}, creds: "[p]\naws_access_key_id=x\naws_secret_access_key=x\n"},
		"profile with a token":  {creds: "[default]\n" + keys + "aws_session_token = tok=\n", token: "tok="},
		"credential_process":    {config: "[default]\ncredential_process = " + process + " 'a b'\n", token: "a b"},
		"login of the company":  {config: "[profile p]\nsso_session = work\n[sso-session work]\nsso_region = x\n", query: "?profile=p", token: "configure export-credentials --profile p --format process"},
		"container":             {env: []string{"AWS_CONTAINER_CREDENTIALS_FULL_URI", url + "/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN", "Bearer x"}, token: "token-*"},
		"pod identity":          {env: []string{"AWS_CONTAINER_CREDENTIALS_FULL_URI", url + "/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", bearer}, token: "token-*"},
		"web identity":          {env: []string{"AWS_WEB_IDENTITY_TOKEN_FILE", jwt, "AWS_ROLE_ARN", "arn:role", "AWS_ENDPOINT_URL_STS", url + "/sts"}, token: "token-*"},
		"web identity, profile": {config: "[default]\nrole_arn=arn:role\nweb_identity_token_file=" + jwt + "\n", env: []string{"AWS_ENDPOINT_URL_STS", url + "/sts"}, token: "token-*"},
		"instance":              {env: []string{"AWS_EC2_METADATA_DISABLED", "", "AWS_EC2_METADATA_SERVICE_ENDPOINT", url}, config: "[default]\nregion=us-east-1\n", token: "token-*"},
	} {
		t.Run(kind, func(t *testing.T) {
			home := t.TempDir()
			if c.config != "" {
				write(t, home+"/.aws/config", c.config)
			}
			if c.creds != "" {
				write(t, home+"/.aws/credentials", c.creds)
			}
			s := s3server.New(t)
			s.Token = c.token
			if c.token == "token-*" {
				s.Policy = func(r *http.Request) bool { return false }
			}
			b := open(t, "s3://backup"+c.query, bucket.Options{Getenv: bare(s, c.env...), Home: home, Transport: tokens{t, s}})
			bucket.Hasten(b)
			put(t, b, "w/1", "x")
		})
	}
}

// tokens lets the server accept any token of the issuer.
type tokens struct {
	t *testing.T
	s *s3server.Server
}

func (k tokens) RoundTrip(r *http.Request) (*http.Response, error) {
	if token := r.Header.Get("X-Amz-Security-Token"); strings.HasPrefix(token, "token-") {
		k.s.Change(func() { k.s.Token, k.s.Policy = token, nil })
	}
	return http.DefaultTransport.RoundTrip(r)
}

func TestCredentialsThatFail(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs of the test are scripts of a shell")
	}
	url, _ := issuer(t, time.Hour)
	bin := t.TempDir() // there is no program aws
	if err := os.Symlink("/bin/sh", bin+"/sh"); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	for kind, c := range map[string]struct {
		env    []string
		config string
		next   string
	}{
		"none":            {next: "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"},
		"half":            {env: []string{"AWS_ACCESS_KEY_ID", "x"}, next: "Set both"},
		"missing profile": {env: []string{"AWS_PROFILE", "nope"}, next: "AWS_PROFILE"},
		"half a profile":  {config: "[default]\naws_access_key_id = x\n", next: "both"},
		"sso":             {config: "[default]\nsso_session = work\n", next: "Install the program aws"},
		"process":         {config: "[default]\ncredential_process = /bin/echo the token is over >&2; exit 3\n", next: "Try it by hand: /bin/echo"},
		"no JSON":         {config: "[default]\ncredential_process = echo hello\n", next: "Try it by hand"},
		"container":       {env: []string{"AWS_CONTAINER_CREDENTIALS_FULL_URI", url + "/container"}, next: "AWS_CONTAINER_"},
		"strange host":    {env: []string{"AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://example.com/x"}, next: "AWS_CONTAINER_"},
		"web identity":    {env: []string{"AWS_WEB_IDENTITY_TOKEN_FILE", "/none", "AWS_ROLE_ARN", "x"}, next: "token file"},
		"not instance":    {env: []string{"AWS_EC2_METADATA_DISABLED", "", "AWS_EC2_METADATA_SERVICE_ENDPOINT", url + "/none"}, next: "Set AWS_ACCESS_KEY_ID"},
	} {
		home := t.TempDir()
		if c.config != "" {
			write(t, home+"/.aws/config", c.config)
		}
		s := s3server.New(t)
		b := open(t, "s3://backup", bucket.Options{Getenv: bare(s, c.env...), Home: home})
		var denied *bucket.DeniedError
		if err := b.Put(t.Context(), "w/1", nil); !errors.As(err, &denied) || !strings.Contains(denied.Next, c.next) || len(s.Requests()) > 0 {
			t.Errorf("%s: %v, %+v", kind, err, denied)
		}
	}
	h := httptest.NewServer(nil)
	h.Close()
	s := s3server.New(t)
	b := open(t, "s3://backup", bucket.Options{Getenv: bare(s, "AWS_CONTAINER_CREDENTIALS_FULL_URI", h.URL)})
	var unreachable *bucket.UnreachableError
	if err := b.Put(t.Context(), "w/1", nil); !errors.As(err, &unreachable) {
		t.Errorf("no answer: %v", err)
	}
}

func TestRenewal(t *testing.T) {
	for _, c := range []struct {
		lifetime time.Duration
		asked    int // for three requests
	}{{time.Hour, 1}, {time.Minute, 3}} {
		url, asked := issuer(t, c.lifetime)
		s := s3server.New(t)
		b := open(t, "s3://backup", bucket.Options{Getenv: bare(s, "AWS_CONTAINER_CREDENTIALS_FULL_URI", url+"/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN", "Bearer x"), Transport: tokens{t, s}})
		for i := range 3 {
			put(t, b, fmt.Sprint("w/", i), "x")
		}
		if *asked != c.asked {
			t.Errorf("credentials for %v: asked %d times", c.lifetime, *asked)
		}
	}
	url, asked := issuer(t, time.Hour)
	s := s3server.New(t)
	s.Token = "token-2" // the server does not take the first any more
	b := open(t, "s3://backup", bucket.Options{Getenv: bare(s, "AWS_CONTAINER_CREDENTIALS_FULL_URI", url+"/container", "AWS_CONTAINER_AUTHORIZATION_TOKEN", "Bearer x")})
	put(t, b, "w/1", "x")
	if *asked != 2 {
		t.Errorf("asked %d times", *asked)
	}
	s.Token = "none"
	var denied *bucket.DeniedError
	if err := b.Put(t.Context(), "w/2", nil); !errors.As(err, &denied) || denied.Next != "Renew the credentials. They are those of the role of the container." {
		t.Errorf("%v", err)
	}
}
