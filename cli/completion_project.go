package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/command/show"
	"github.com/rewind-cli/rewind/cli/command/store"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/engine/attempts"
	"github.com/rewind-cli/rewind/engine/conversation"
	"github.com/rewind-cli/rewind/engine/gitrepo"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/stores"
	"github.com/rewind-cli/rewind/engine/work"
	"github.com/rewind-cli/rewind/manifest"
)

// inProject has offer read the project. Without one, and where it cannot be read, there is no completion.
func (c *completer) inProject(offer func(p *project.Project) error) {
	if p, err := project.Open(c.ctx, project.OpenOptions{Env: c.env, Root: c.root}); err == nil {
		defer p.Close()
		_ = offer(p)
	}
}

// takesPaths reports whether the word is a path of a checkpoint, which it can be before -- too.
func (c *completer) takesPaths() bool {
	switch c.cmd.Name {
	case "cat", "ls":
		return len(c.args) >= 1
	case "history", "blame":
		return true
	case "restore", "revert", "export", "diff", "compare", "undo", "forget", "grep":
		return c.dashed
	}
	return false
}

// paths offers the paths of a checkpoint one directory at a time, as shells do.
// Those that are no longer in the working tree are what is looked for.
func (c *completer) paths(typed string, emit func(value, text string)) {
	c.inProject(func(p *project.Project) error {
		specs, ever := []string{"last"}, false
		switch c.cmd.Name {
		case "history", "blame", "forget", "grep", "list":
			ever = true
		case "diff", "compare":
			if len(c.args) > 0 {
				specs = c.args
			}
		case "undo":
		default:
			if len(c.args) > 0 {
				specs = c.args[:1]
			}
		}
		above := typed[:strings.LastIndexByte(typed, '/')+1]
		from := "./" + above
		if filepath.IsAbs(above) {
			from = above
		}
		dir, err := app.RootPath(p.Root(), c.env.Dir, filepath.Clean(from))
		if err != nil {
			return err
		}
		seen := map[string]bool{}
		offer := func(name, kind string) {
			// The answer is lines: such a name cannot be in it.
			if strings.ContainsAny(name, "\n\r\t") || seen[name] || strings.HasPrefix(name, ".") && above == typed {
				return
			}
			seen[name] = true
			if kind == "directory" {
				name += "/"
			}
			emit(above+name, kind)
		}
		for _, spec := range specs {
			l, err := app.Resolve(c.ctx, p, spec)
			if err != nil {
				continue
			}
			list, err := inspect.Dir(c.ctx, p, l.Checkpoint, dir)
			if err != nil {
				continue
			}
			for _, e := range list {
				switch e.Kind {
				case manifest.Subdir:
					offer(e.Name, "directory")
				case manifest.Symlink:
					offer(e.Name, "link")
				default:
					offer(e.Name, "file")
				}
			}
		}
		if !ever {
			return nil
		}
		// What any checkpoint had, of which the newest's own are known by now.
		names, err := inspect.NamesEver(c.ctx, p, dir)
		for _, n := range names {
			if n.Dir {
				offer(n.Name, "directory")
			} else {
				offer(n.Name, "file")
			}
		}
		return err
	})
}

// pathsOf offers CKPT:PATH, as show takes it. Times and ids that agents bind have colons, too.
func (c *completer) pathsOf() {
	for i := range c.typed {
		if c.typed[i] == ':' {
			c.args = []string{c.typed[:i]}
			c.paths(c.typed[i+1:], func(value, text string) { c.offer(c.typed[:i+1]+value, text) })
		}
	}
}

// offeredCheckpoints is how many of the newest are offered by number and id; also of sessions, calls and subagents.
const offeredCheckpoints = 50

func (c *completer) checkpoints() {
	c.offer("last", "the newest")
	c.offer("prev", "the one before")
	c.inProject(func(p *project.Project) error {
		list, err := p.List(c.ctx, project.ListOptions{Limit: offeredCheckpoints})
		for _, l := range list {
			text := strings.TrimSpace(rows.Reason(l) + " " + rows.CheckpointText(l))
			c.offer(app.Utoa(uint64(l.N)), text)
			c.offer(l.ID.String(), text)
			if l.Name != "" {
				c.offer(l.Name, text)
			}
		}
		return err
	})
}

// pulled offers the logs that were pulled, or, once one is typed, its checkpoints.
func (c *completer) pulled() {
	of, _, cut := strings.Cut(c.typed, "/")
	c.inProject(func(p *project.Project) error {
		all, err := p.Pulled()
		for _, l := range all {
			switch {
			case c.cmd.Name == "list":
				c.offer(l.Name+"/", "what was pulled of "+app.Escape(l.Machine))
				continue
			case !cut || l.Name != of:
				c.offer(l.Name+"/last", "the newest of "+app.Escape(l.Machine))
				continue
			}
			v, err := p.View(l)
			if err != nil {
				return err
			}
			list, err := v.List(c.ctx, project.ListOptions{Limit: offeredCheckpoints})
			if err != nil {
				return err
			}
			c.offer(of+"/last", "the newest")
			for _, l := range list {
				text := strings.TrimSpace(rows.Reason(l) + " " + rows.CheckpointText(l))
				c.offer(of+"/"+app.Utoa(uint64(l.N)), text)
				if l.Name != "" {
					c.offer(of+"/"+l.Name, text)
				}
			}
		}
		return err
	})
}

// sessions offers the agents' sessions.
func (c *completer) sessions() {
	c.inProject(func(p *project.Project) error {
		sessions, err := session.List(c.ctx, p)
		for _, s := range app.FirstN(sessions, offeredCheckpoints) {
			c.offer(s.ID, app.FirstLine(s.Label()))
		}
		return err
	})
}

// stores offers the stores that no project has any more, and any other by the beginning of its id: those are not
// taken away by accident.
func (c *completer) stores(typed string) {
	all, err := stores.List(c.ctx, c.env)
	if err != nil {
		return
	}
	for _, s := range all {
		if s.State.Dead() || typed != "" {
			c.offer(s.ID, app.Escape(store.StateText(s.State)+" "+s.Root))
		}
	}
}

// remotes offers those of the project.
func (c *completer) remotes() {
	c.inProject(func(p *project.Project) error {
		all, err := remote.List(p)
		for _, r := range all {
			c.offer(r.Name, app.Escape(r.URL))
		}
		return err
	})
}

// remotesOfGit offers the remotes of the git repository that the project is in.
func (c *completer) remotesOfGit() {
	c.inProject(func(p *project.Project) error {
		if repo, ok := gitrepo.Find(p.Root()); ok {
			repo.Getenv = c.env.Variable
			_, names := repo.Remote(c.env.Home, "")
			for _, name := range names {
				c.offer("git:"+name, "a remote of the git repository")
			}
		}
		return nil
	})
}

// attempts offers the attempts at the newest prompt that has several, and now.
func (c *completer) attempts() {
	c.offer(show.NowWord, "the working tree")
	c.inProject(func(p *project.Project) error {
		f, err := attempts.Newest(c.ctx, p)
		if err != nil || f == nil {
			return err
		}
		for _, a := range f.Attempts {
			c.offer(attempts.Name(a.N), app.FirstLine(a.Prompt.Prompt))
		}
		return nil
	})
}

const (
	offeredPrompts = 10 // how many of a session's last prompts are offered
	untypedPrompts = 3  // beside checkpoints, where nothing is typed yet
)

// prompts offers prompt~1 to prompt~most of the session that would be meant.
func (c *completer) prompts(most int) {
	c.inProject(func(p *project.Project) error {
		s, err := session.Choose(c.ctx, p, c.session)
		for n := 1; err == nil && n <= most; n++ {
			var l project.Listed
			name := fmt.Sprintf("prompt~%d", n)
			if l, err = conversation.ResolvePrompt(c.ctx, p, name, n, s.ID); err == nil {
				c.offer(name, app.FirstLine(l.Prompt))
			}
		}
		return err
	})
}

// subagents offers the subagents of a session, or of all.
func (c *completer) subagents() {
	c.inProject(func(p *project.Project) error {
		id := ""
		if c.session != "" {
			s, err := session.Choose(c.ctx, p, c.session)
			if err != nil {
				return err
			}
			id = s.ID
		}
		list, err := work.Subagents(c.ctx, p, id)
		c.words(app.FirstN(list, offeredCheckpoints)...)
		return err
	})
}

// calls offers the newest tool calls by the agents' ids.
func (c *completer) calls() {
	c.inProject(func(p *project.Project) error {
		list, err := p.List(c.ctx, project.ListOptions{Limit: 4 * offeredCheckpoints})
		seen := map[string]bool{}
		for _, l := range list {
			if id := l.ToolUseID; id != "" && !seen[id] && len(seen) < offeredCheckpoints {
				seen[id] = true
				c.offer(id, strings.TrimSpace(app.Escape(l.Tool)+" "+rows.CheckpointText(l)))
			}
		}
		return err
	})
}
