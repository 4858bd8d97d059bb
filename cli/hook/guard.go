package hook

import (
	"path/filepath"

	"github.com/rewind-cli/rewind/cli/registration"
	"github.com/rewind-cli/rewind/engine/hook"
	"github.com/rewind-cli/rewind/hookio"
	"github.com/rewind-cli/rewind/hookio/shell"
)

// guard refuses a tool call that would damage the store.
func (h *process) guard() *hookio.Refusal {
	if h.event.Kind != hookio.PreTool || !h.Project.Settings().Guard {
		return nil
	}
	store := hookio.Protected{Dir: h.Project.StoreDir(), Survives: true}
	g := hookio.Guarded{Root: h.Project.Root(), Home: h.Env.Home, Protected: []hookio.Protected{store}, Resolve: linkResolver(),
		Registered: &registration.Registered{Clients: func() []registration.AgentFiles { return registration.AgentsOf(h.Env, h.Project.Root()) }}}
	if h.Env.Home != "" {
		g.Protected = append(g.Protected, hookio.Protected{Dir: filepath.Join(h.Env.Home, ".rewind")})
	}
	e := placed(h.event, h.Env.Dir)
	if r := hookio.Guard(e, g); r != nil {
		return r
	}
	// What removes a directory around the store is refused only if that is the
	// end of it; to know that costs a look at every pack.
	if shell.Destructive(e.Tool.Command, e.CommandDir(), nil) == "" || hook.Mirrored(h.Project) == nil {
		return nil
	}
	g.Protected[0].Survives = false
	return hookio.Guard(e, g)
}

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
		if len(done) >= registration.MaxResolved {
			return ""
		}
		real := registration.ResolveLinks(path, last)
		done[key] = real
		return real
	}
}
