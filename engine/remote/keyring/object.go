package keyring

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"filippo.io/age"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

// Prefix is where the objects of keys are. FORMAT describes them.
const Prefix = "k/"

// The kinds of objects.
const (
	kindNext = "next" // a key follows another one
	kindFor  = "for"  // a key, sealed for a person
	kindNot  = "not"  // such objects do not count any more
)

const (
	maxObject  = 64 << 10 // bytes
	maxObjects = 1000     // that are read of a remote: the oldest ones, since whoever can write there can add any number
	hashBytes  = 16       // of the BLAKE3-256 in a name
	purpose    = "rewind remote: mark of a key's object"
)

// head is the first line of an object, JSON. Nothing in it is secret.
type head struct {
	Kind      string   `json:"kind"`
	Remote    string   `json:"remote"`           // its id
	Epoch     int      `json:"epoch"`            // of the key: 1 is the first
	Recipient string   `json:"recipient"`        // the public half of the key
	Before    string   `json:"before,omitempty"` // next: the public half of the key that it follows
	For       string   `json:"for,omitempty"`    // for: the person's public key, or Passphrase
	Not       []string `json:"not,omitempty"`    // not: names of objects of the kind for
	// MAC marks the rest of the head and what is behind it, with the key; of the kind next, with the key before.
	MAC string `json:"mac"`
}

// object is one of them. sealed is an age file: of the kind next, the keys before, for the new key; of the kind for, the key, for the person.
type object struct {
	head
	name   string
	sealed []byte
}

// mark is the MAC that an object should have.
func (o *object) mark(k Key) (string, error) {
	h := o.head
	h.MAC = ""
	line, err := json.Marshal(h)
	if err != nil {
		return "", err
	}
	return k.MAC(purpose, line, []byte("\n"), o.sealed)
}

// marked reports whether who made an object had a key.
func (o *object) marked(k Key) bool {
	want, err := o.mark(k)
	return err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(o.MAC)) == 1
}

// bytes marks an object, gives it its name, and returns its bytes.
func (o *object) bytes(k Key) (data []byte, err error) {
	if o.MAC, err = o.mark(k); err != nil {
		return nil, err
	}
	line, err := json.Marshal(o.head)
	if err != nil {
		return nil, err
	}
	data = append(append(line, '\n'), o.sealed...)
	o.name = nameOf(o.Epoch, o.Kind, data)
	return data, nil
}

func nameOf(epoch int, kind string, data []byte) string {
	id := oid.Sum(data)
	return fmt.Sprintf("%s%d-%s-%d-%s", Prefix, epoch, kind, len(data), hex.EncodeToString(id[:hashBytes]))
}

// parseName reads what a name says; ok is false for one that no program of ours gave.
func parseName(name string) (epoch int, kind string, size int64, ok bool) {
	parts := strings.Split(strings.TrimPrefix(name, Prefix), "-")
	if len(parts) != 4 || !strings.HasPrefix(name, Prefix) || len(parts[3]) != 2*hashBytes {
		return 0, "", 0, false
	}
	epoch, err := strconv.Atoi(parts[0])
	size, serr := strconv.ParseInt(parts[2], 10, 64)
	known := parts[1] == kindNext || parts[1] == kindFor || parts[1] == kindNot
	return epoch, parts[1], size, err == nil && serr == nil && known && epoch > 0 && size > 0 && size <= maxObject
}

// parse takes an object apart. An object that is not what its name says, or not of this remote, is no error and does not count: anybody who
// can write to the place can put it there.
func parse(remote, name string, data []byte) (o *object, ok bool) {
	epoch, kind, _, _ := parseName(name)
	line, sealed, cut := bytes.Cut(data, []byte("\n"))
	o = &object{name: name, sealed: sealed}
	if !cut || nameOf(epoch, kind, data) != name || json.Unmarshal(line, &o.head) != nil {
		return nil, false
	}
	return o, o.Kind == kind && o.Epoch == epoch && o.Remote == remote && len(o.For) <= maxPerson
}

// open decrypts what an object has, with whatever fits.
func (o *object) open(ids ...age.Identity) (Keys, error) {
	r, err := age.Decrypt(bytes.NewReader(o.sealed), ids...)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return Parse(string(data))
}

// Ring is what a remote says of its keys. It is not to be believed but for what Chain and People give.
type Ring struct {
	ID, First string // of the remote, and the public half of its first key
	objects   []*object
	Requests  int // that reading took
}

// Look lists the objects of keys in a remote, and says, as a text, which there are.
func Look(ctx context.Context, b bucket.Bucket) (listing []bucket.Object, which string, err error) {
	listing, err = b.List(ctx, Prefix)
	listing = slices.DeleteFunc(listing, func(o bucket.Object) bool {
		_, _, size, ok := parseName(o.Name)
		return !ok || size != o.Size
	})
	if err != nil || len(listing) == 0 {
		return nil, "", err
	}
	var names bytes.Buffer
	for _, o := range listing {
		names.WriteString(o.Name + "\n")
	}
	id := oid.Sum(names.Bytes())
	return listing, hex.EncodeToString(id[:hashBytes]), nil
}

// Read reads what Look has listed, for the remote of an id whose first key has a public half. Errors: those of the bucket.
func Read(ctx context.Context, b bucket.Bucket, listing []bucket.Object, id, first string) (*Ring, error) {
	r := &Ring{ID: id, First: first}
	slices.SortStableFunc(listing, func(a, b bucket.Object) int { return a.Time.Compare(b.Time) })
	for _, l := range listing[:min(len(listing), maxObjects)] {
		r.Requests++
		data, err := b.Get(ctx, l.Name, l.Size)
		if errors.Is(err, fs.ErrNotExist) || errors.As(err, new(*bucket.TooLargeError)) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if o, ok := parse(id, l.Name, data); ok {
			r.objects = append(r.objects, o)
		}
	}
	return r, nil
}
