package cli

import (
	"os"
	"path/filepath"

	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/hookio"
	"github.com/rewind-cli/rewind/hookio/shell"
)

// guard refuses a tool call that would damage the store.
func (h *hookCall) guard() *hookio.Refusal {
	if h.event.Kind != hookio.PreTool || !h.Project.Settings().Guard {
		return nil
	}
	store := hookio.Protected{Dir: h.Project.StoreDir(), Survives: true}
	g := hookio.Guarded{Root: h.Project.Root(), Home: h.Env.Home, Protected: []hookio.Protected{store}, Resolve: linkResolver(),
		Registered: &registered{clients: func() []agentFiles { return agentsOf(h.Env, h.Project.Root()) }}}
	if h.Env.Home != "" {
		g.Protected = append(g.Protected, hookio.Protected{Dir: filepath.Join(h.Env.Home, ".rewind")})
	}
	if r := hookio.Guard(h.event, g); r != nil {
		return r
	}
	// What removes a directory around the store is refused only if that is the
	// end of it; to know that costs a look at every pack.
	if shell.Destructive(h.event.Tool.Command) == "" || hook.Mirrored(h.Project) == nil {
		return nil
	}
	g.Protected[0].Survives = false
	return hookio.Guard(h.event, g)
}

const (
	// maxLinkSteps bounds the work for one path: components that are not there, and links
	// that lead nowhere.
	maxLinkSteps = 64
	// maxResolved bounds the paths of one tool call that are looked at on disk.
	maxResolved = 256
)

// linkResolver follows the links of the paths that a tool call names, for hookio.Guarded.
// Of more than a tool call has in earnest the rest is taken as written.
func linkResolver() func(path string, last bool) string {
	done := make(map[string]string)
	return func(path string, last bool) string {
		key := path
		if !last {
			key += "\x00"
		}
		if real, ok := done[key]; ok {
			return real
		}
		if len(done) >= maxResolved {
			return ""
		}
		real := resolveLinks(path, last)
		done[key] = real
		return real
	}
}

// resolveLinks follows the links in the part of path that is there, in its last component only
// where last is set; "" where that does not end.
func resolveLinks(path string, last bool) string {
	path, rest := filepath.Clean(path), ""
	if !last {
		path, rest = filepath.Dir(path), filepath.Base(path)
	}
	for range maxLinkSteps {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(real, rest)
		}
		if to, err := os.Readlink(path); err == nil { // what it leads to is not there yet
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(path), to)
			}
			path = to
			continue
		}
		path, rest = filepath.Dir(path), filepath.Join(filepath.Base(path), rest)
	}
	return ""
}
