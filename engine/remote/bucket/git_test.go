package bucket_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

func init() {
	if _, err := exec.LookPath("git"); err == nil {
		places["git"] = func(t *testing.T) bucket.Bucket { return openGit(t, "git:"+newRepository(t), bucket.Options{}) }
		places["git sha256"] = func(t *testing.T) bucket.Bucket {
			return openGit(t, "git:"+newRepository(t, "--object-format=sha256"), bucket.Options{})
		}
		places["git http"] = func(t *testing.T) bucket.Bucket {
			return openGit(t, "git:"+serveGit(t, newRepository(t)).URL+"#team/rewind", bucket.Options{})
		}
	}
}

// newRepository makes an empty bare repository.
func newRepository(t *testing.T, arg ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bare repository.git")
	git(t, "", append(append([]string{"init", "-q", "--bare"}, arg...), dir)...)
	return dir
}

// git runs git beside the bucket.
func git(t *testing.T, dir string, arg ...string) string {
	t.Helper()
	cmd := exec.Command("git", arg...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(arg, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func openGit(t *testing.T, url string, o bucket.Options) bucket.Bucket {
	t.Helper()
	if o.Home == "" {
		o.Home = t.TempDir()
	}
	return open(t, url, o)
}

// gitServer is a repository behind git's own program for HTTP.
type gitServer struct {
	URL                string
	requests, up, down atomic.Int64
}

func serveGit(t *testing.T, repository string) *gitServer {
	t.Helper()
	backend := filepath.Join(git(t, "", "--exec-path"), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Skip(err)
	}
	git(t, repository, "config", "http.receivepack", "true")
	s := &gitServer{}
	h := &cgi.Handler{Path: backend, InheritEnv: []string{"PATH"}, Env: []string{"GIT_PROJECT_ROOT=" + repository, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=somebody", "GIT_CONFIG_NOSYSTEM=1"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		r.Body = counted{r.Body, &s.up}
		h.ServeHTTP(countedAnswer{w, &s.down}, r)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

type counted struct {
	io.ReadCloser
	n *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n.Add(int64(n))
	return n, err
}

type countedAnswer struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c countedAnswer) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return c.ResponseWriter.Write(p)
}

// TestPackOfTwoNames: git gives a pack its name before it removes the temporary one. Such a moment is no reason to end it.
func TestPackOfTwoNames(t *testing.T) {
	repo := t.TempDir()
	dir := filepath.Join(repo, "objects", "pack")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "tmp_pack_a"), make([]byte, 1000), 0o600),
		os.Link(filepath.Join(dir, "tmp_pack_a"), filepath.Join(dir, "pack-a.pack")), os.WriteFile(filepath.Join(dir, "pack-a.idx"), make([]byte, 10), 0o600)); err != nil {
		t.Skip(err)
	}
	if n := bucket.SizeOf(repo); n != 1010 {
		t.Errorf("it has %d bytes", n)
	}
}
