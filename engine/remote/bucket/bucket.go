package bucket

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Object is one name of a listing.
type Object struct {
	Name string
	Size int64     // in bytes
	Time time.Time // when it was written, by the clock of the server
}

// Bucket is a place of objects. It is safe for concurrent use. Names are those that CheckName accepts.
//
// Errors are *UnreachableError, *DeniedError, *URLError, or name the object. A call whose context was cancelled returns an error that is
// context.Canceled.
type Bucket interface {
	// Put stores a whole object, or returns an error; after an error the object may be there nevertheless, whole or torn. To put the same bytes under
	// the same name again is no error. The body is not changed, and not kept.
	Put(ctx context.Context, name string, body []byte) error
	// Get returns a whole object. The error is fs.ErrNotExist where there is none, and *TooLargeError where it has more than
	// limit bytes. AWS answers *DeniedError for a missing object to who may not list.
	Get(ctx context.Context, name string, limit int64) ([]byte, error)
	// List returns all objects whose name begins with prefix, sorted by name. The prefix is "" or the beginning of a name.
	List(ctx context.Context, prefix string) ([]Object, error)
	// Delete removes an object. That there is none is no error.
	Delete(ctx context.Context, name string) error
}

// Conditional is a Bucket that may be able to put an object only where there is none of its name.
type Conditional interface {
	Bucket
	// PutNew is Put, but the error is fs.ErrExist where the name is taken, and errors.ErrUnsupported where the server knows no
	// conditions. A server that ignores conditions overwrites. A request that was sent again because its answer was lost can meet its own object.
	PutNew(ctx context.Context, name string, body []byte) error
}

// Options of Open. The zero value opens what needs no environment.
type Options struct {
	Getenv func(string) string // the environment; nil: empty
	Home   string              // where credentials are looked for, and "~/" of a directory; "": nowhere
	Dir    string              // what a relative directory is relative to; "": such a URL is refused
	// Project is a directory in a git repository, whose remotes "git:NAME" can name; "": there is none.
	Project string

	// Existing says that an earlier Open made the directory of the URL. One that is missing is then an error, so that no
	// new directory takes the place of a drive that is not mounted.
	Existing bool
	// Conditional says that Probe found Capabilities.Conditional: Put does not overwrite an object that is whole.
	Conditional bool

	// Keep is a file in which a bucket may note what saves requests when it is opened again. It can be removed at any time. "": none.
	Keep string

	Transport http.RoundTripper // of all requests, for tests; nil: one of our own
	Timeout   time.Duration     // how long a server may make no progress; 0: 30 seconds

	Limit int64 // bytes a second that all requests together use at most; of a directory and of git, on average; 0: no limit
}

func (o Options) getenv(name string) string {
	if o.Getenv == nil {
		return ""
	}
	return o.Getenv(name)
}

// Open returns the bucket of a URL:
//   - "s3://bucket/prefix?endpoint=…&region=…&profile=…&style=path|host", of which all but the bucket may be missing;
//   - "file:///directory", an absolute path, "~/directory", or a path relative to Options.Dir. A directory that is missing is
//     made if its parent is there;
//   - "git:NAME", a remote of the git repository of Options.Project, "git:.", the one that it pushes to without a name, or "git:" and a
//     URL or path that git knows. "#prefix" can follow: what is there is apart from what has another prefix.
//
// No request is sent. Errors: *URLError; *UnreachableError for a directory that is not there, *DeniedError for one that may not be used.
func Open(address string, o Options) (Bucket, error) {
	b, err := openUnpaced(address, o)
	if _, paces := b.(*s3); err == nil && o.Limit > 0 && !paces {
		b = paced{b, limiter(o.Limit)}
	}
	return b, err
}

func openUnpaced(address string, o Options) (Bucket, error) {
	scheme, _, hasScheme := strings.Cut(address, ":")
	switch {
	case strings.HasPrefix(address, "~/") && o.Home != "":
		return openDir(filepath.Join(o.Home, address[2:]), o)
	case address != "" && filepath.IsAbs(address):
		return openDir(address, o)
	case address != "" && !hasScheme:
		if o.Dir == "" {
			return nil, &URLError{address, "this is a relative path", "Give the absolute path of the directory."}
		}
		return openDir(filepath.Join(o.Dir, address), o)
	case scheme == "file":
		u, err := url.Parse(address)
		if err != nil || u.Host != "" && u.Host != "localhost" || !strings.HasPrefix(u.Path, "/") || u.RawQuery != "" || u.Fragment != "" {
			return nil, &URLError{address, "this is no URL of a directory", "Write it as file:///path/of/the/directory, or give its absolute path."}
		}
		return openDir(fileURLPath(u.Path), o)
	case scheme == "s3":
		return openS3(address, o)
	case scheme == "git":
		return openGit(address, o)
	}
	return nil, &URLError{address, "no remote has such a URL", "Use s3://bucket/prefix, the absolute path of a directory, or git: and a remote or URL of git."}
}

// fileURLPath is the path of a file URL as the system writes it: file:///C:/dir is C:\dir where volumes have such names.
func fileURLPath(path string) string {
	native := filepath.FromSlash(path)
	if v := filepath.FromSlash(strings.TrimPrefix(path, "/")); filepath.VolumeName(v) != "" {
		return v
	}
	return native
}

// maxName bounds names, so that they and a prefix fit into the 1,024 bytes that S3 gives them.
const maxName = 512

// CheckName refuses names of objects that could mean something else in a directory or on a server: names are made of
// components of a-z, 0-9, ".", "_" and "-", with "/" between them, and no component begins or ends with ".". The error is *NameError.
func CheckName(name string) error {
	if name == "" || len(name) > maxName {
		return &NameError{name}
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || len(part) > 255 || part[0] == '.' || part[len(part)-1] == '.' {
			return &NameError{name}
		}
		for _, c := range []byte(part) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
				return &NameError{name}
			}
		}
	}
	return nil
}

// CheckPrefix refuses what no name begins with; "" is the beginning of all names. The error is *NameError.
func CheckPrefix(prefix string) error {
	if prefix == "" || CheckName(prefix) == nil || CheckName(prefix+"0") == nil {
		return nil
	}
	return &NameError{prefix}
}

// listing is what callers may see of the names that a place gave: those that begin with prefix, that CheckName
// accepts, sorted, each once.
func listing(found []Object, prefix string) []Object {
	found = slices.DeleteFunc(found, func(o Object) bool {
		return !strings.HasPrefix(o.Name, prefix) || CheckName(o.Name) != nil || o.Size < 0
	})
	slices.SortStableFunc(found, func(a, b Object) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(found, func(a, b Object) bool { return a.Name == b.Name })
}
