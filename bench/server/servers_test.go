// Package server has the S3 servers that others have made, for measurements and tests: what they are made of is no part of the module of rewind.
package server_test

import (
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

const (
	bucket    = "backups"
	accessKey = "tests"
	secretKey = "secret-of-the-tests"
)

// programs is the directory of the programs that were built.
var programs string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "rewind-servers-")
	if err != nil {
		panic(err)
	}
	programs = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// build builds a program of the module in dir, once.
func build(t *testing.T, dir, name, of string) string {
	t.Helper()
	program := filepath.Join(programs, name)
	if _, err := os.Stat(program); err == nil {
		return program
	}
	cmd := exec.Command("go", "build", "-o", program, of)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// versitygw starts it with a directory on the disk, in which the bucket is, and returns its URL.
func versitygw(t *testing.T) string {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, bucket), 0o755); err != nil {
		t.Fatal(err)
	}
	return startVersitygw(t, root, nil, nil)
}

// startVersitygw starts it with a directory, and with options of the gateway and of its backend.
func startVersitygw(t *testing.T, root string, gateway, more []string) string {
	program := build(t, ".", "versitygw", "github.com/versity/versitygw/cmd/versitygw")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	args := slices.Concat([]string{"--quiet", "--access", accessKey, "--secret", secretKey, "--port", address}, gateway, []string{"posix"}, more, []string{root})
	server := exec.Command(program, args...)
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	for tries := 0; ; tries++ {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return "http://" + address
		}
		if tries == 400 {
			t.Fatalf("versitygw does not answer: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// gofakes starts gofakes3 in this process, and returns its URL.
func gofakes(t *testing.T) string {
	backend := s3mem.New()
	if err := backend.CreateBucket(bucket); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	return server.URL
}
