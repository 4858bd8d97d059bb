//go:build unix

package remote_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
	"github.com/rewind-cli/rewind/internal/testkit/s3server"
)

// allows reads a policy as a server would that knows what Policy uses of the language, and nothing else.
func allows(t *testing.T, text string) func(*http.Request) bool {
	t.Helper()
	var policy struct {
		Statement []struct {
			Effect, Action, Resource string
			Condition                map[string]map[string]string
		}
	}
	if err := json.Unmarshal([]byte(text), &policy); err != nil {
		t.Fatal(err)
	}
	return func(r *http.Request) bool {
		query := r.URL.Query()
		action, resource := map[string]string{"GET": "s3:GetObject", "PUT": "s3:PutObject", "DELETE": "s3:DeleteObject"}[r.Method], "arn:aws:s3:::"+strings.TrimPrefix(r.URL.Path, "/")
		switch {
		case query.Has("versioning"), query.Has("object-lock"):
			return false
		case query.Get("list-type") == "2":
			action = "s3:ListBucket"
		}
		for _, s := range policy.Statement {
			begin, wild := strings.CutSuffix(s.Resource, "*")
			fits := strings.TrimSuffix(resource, "/") == begin || wild && strings.HasPrefix(resource, begin)
			for operator, conditions := range s.Condition {
				for key, value := range conditions {
					switch operator + " " + key {
					case "StringLike s3:prefix":
						fits = fits && strings.HasPrefix(query.Get("prefix"), strings.TrimSuffix(value, "*"))
					case "Null s3:if-none-match":
						fits = fits && (len(r.Header.Values("If-None-Match")) == 0) == (value == "true")
					default:
						t.Errorf("no server of this test knows the condition %s %s", operator, key)
					}
				}
			}
			if fits && s.Effect == "Allow" && s.Action == action {
				return true
			}
		}
		return false
	}
}

// TestUnderThePolicy: with nothing but what the printed policy allows, a machine joins a remote, pushes, merges, rotates the key, pulls and clones, and can neither
// overwrite nor delete; what gc would remove is named, and stays.
func TestUnderThePolicy(t *testing.T) {
	quickly(t)
	now := time.Now()
	s := s3server.New(t)
	b, err := bucket.Open("s3://"+s3server.BucketName+"/x", bucket.Options{Getenv: s.Env(), Conditional: true})
	if err != nil {
		t.Fatal(err)
	}
	defer remote.OpenAs(b)()
	defer remote.MergeAt(4, 1<<20)()
	defer func(was int) { *remote.MaxObject = was }(*remote.MaxObject)
	*remote.MaxObject = 8 << 10
	text, err := (&remote.Remote{Config: remote.Config{URL: "s3://" + s3server.BucketName + "/x"}}).Policy()
	if err != nil {
		t.Fatal(err)
	}
	policy := allows(t, text)
	denied := map[string]bool{}
	s.Policy = func(r *http.Request) bool {
		ok := policy(r)
		if !ok {
			denied[fmt.Sprint(r.Method, " ", r.Header.Get("If-None-Match"))] = true
		}
		return ok
	}
	m := initialised(t, &now)
	key := m.add()
	noisy := rand.New(rand.NewPCG(1, 27))
	m.write("large", noise(noisy, 40_000)) // goes as packs
	m.save()
	m.pushes(8)
	if done, err := m.merge(); err != nil || done.Merges == 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	if _, err := m.rotate(remote.RotateOptions{}); err != nil {
		t.Fatal(err)
	}
	m.pushes(2)
	other, err := m.cloned(m.keyText(key))
	if err != nil || other.count() != m.count() {
		t.Fatalf("a clone: %v", err)
	}
	other.pushes(1)
	if done, err := m.pull(remote.PullOptions{}); err != nil || len(done.Logs) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	before := s.Names()
	checked, err := m.check()
	if err != nil || len(checked.Damaged) > 0 || checked.Can.Overwrite || checked.Can.Delete || !checked.Can.Conditional {
		t.Errorf("%+v, %v", checked, err)
	}
	s.Older(48 * time.Hour)
	collected, err := m.gc(remote.GCOptions{})
	if err != nil || len(collected.Refused) == 0 || collected.Merged.Objects > 0 {
		t.Errorf("%+v, %v", collected, err)
	}
	after := s.Names()
	for _, name := range before {
		if !slices.Contains(after, name) {
			t.Errorf("%s is gone", name)
		}
	}
	if _, err := m.cloned(m.keyText(key)); err != nil {
		t.Errorf("a clone after it: %v", err)
	}
	if !denied["DELETE "] || !denied["PUT "] {
		t.Errorf("only %v was tried and refused", denied)
	}
}

// keyText is what opens the remote: its newest key, with what it follows.
func (m *machine) keyText(first string) string {
	r, done := m.remote()
	defer done()
	k, err := r.Key()
	if err != nil {
		return first
	}
	return k.String()
}
