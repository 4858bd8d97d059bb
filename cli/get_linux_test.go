package cli_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cli"
)

// release is what docs/dist.sh puts on a server, with the program in it.
func release(t *testing.T) map[string][]byte {
	t.Helper()
	name := "rewind-linux-" + runtime.GOARCH
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for to, from := range map[string]string{"rewind": program(t), "install.sh": "../install.sh"} {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteHeader(&tar.Header{Name: name + "/" + to, Mode: 0o755, Size: int64(len(data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{w.Close(), z.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	archive := out.Bytes()
	return map[string][]byte{
		name + ".tar.gz": archive,
		"SHA256SUMS":     fmt.Appendf(nil, "%x  get.sh\n%x  %s.tar.gz\n", sha256.Sum256(nil), sha256.Sum256(archive), name),
	}
}

// get.sh installs what its checksum vouches for, and nothing else.
func TestGet(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl here")
	}
	good := release(t)
	archive := "rewind-linux-" + runtime.GOARCH + ".tar.gz"
	tampered := bytes.Clone(good[archive])
	tampered[len(tampered)/2] ^= 1
	script, err := os.ReadFile("../docs/get.sh")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		files   map[string][]byte
		cut     int    // bytes of the script that did not arrive
		machine string // what uname -m says
		want    string // "": installed
	}{
		"good":              {files: good},
		"tampered":          {files: map[string][]byte{archive: tampered, "SHA256SUMS": good["SHA256SUMS"]}, want: "is not what SHA256SUMS says"},
		"no checksum":       {files: map[string][]byte{archive: good[archive], "SHA256SUMS": []byte("ab  other.tar.gz\n")}, want: "has no checksum of"},
		"no checksums":      {files: map[string][]byte{archive: good[archive]}, want: "SHA256SUMS could not be downloaded"},
		"no archive":        {files: map[string][]byte{"SHA256SUMS": good["SHA256SUMS"]}, want: ".tar.gz could not be downloaded"},
		"another machine":   {files: good, machine: "riscv64", want: "no program for riscv64"},
		"half the script":   {files: good, cut: len(script) / 2, want: "-"},
		"not the last line": {files: good, cut: len("main \"$@\"\n"), want: "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				data, ok := c.files[strings.TrimPrefix(r.URL.Path, "/v9/")]
				if !ok {
					http.NotFound(w, r)
					return
				}
				w.Write(data)
			}))
			defer server.Close()
			home := t.TempDir()
			path := os.Getenv("PATH")
			if c.machine != "" {
				tools := t.TempDir()
				fake := "#!/bin/sh\ncase $1 in -m) echo " + c.machine + " ;; *) echo Linux ;; esac\n"
				if err := os.WriteFile(filepath.Join(tools, "uname"), []byte(fake), 0o755); err != nil {
					t.Fatal(err)
				}
				path = tools + ":" + path
			}
			tmp := t.TempDir()
			cmd := exec.Command("sh", "-s", "--", "--prefix", filepath.Join(home, "p"), "--hooks", "no")
			cmd.Stdin = bytes.NewReader(script[:len(script)-c.cut])
			cmd.Env = []string{cli.RaceExit, "HOME=" + home, "PATH=" + path, "REWIND_BASE_URL=" + server.URL + "/v9", "TMPDIR=" + tmp}
			out, err := cmd.CombinedOutput()
			if left, _ := os.ReadDir(tmp); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if c.want == "" {
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				for _, file := range []string{"bin/rewind", "share/man/man1/rewind-restore.1", "share/bash-completion/completions/rewind"} {
					if _, err := os.Stat(filepath.Join(home, "p", file)); err != nil {
						t.Errorf("%v\n%s", err, out)
					}
				}
				return
			}
			if c.want != "-" && (err == nil || !strings.Contains(string(out), c.want)) {
				t.Errorf("%v\n%s", err, out)
			}
			if left, _ := os.ReadDir(home); len(left) > 0 {
				t.Errorf("%v is installed\n%s", left, out)
			}
		})
	}
}
