package setup

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/registration"
	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/hookio/register"
)

// ofHooks are the states in which agents would not call us, or not
// always. try runs each registered line, as an agent would but with nothing in
// its environment. generic: a script calls rewind hook generic, which takes no registration.
func (l *findings) ofHooks(ctx context.Context, env account.Env, root string, try, generic bool) {
	add := func(severity, cure, message string) {
		*l = append(*l, finding{Severity: severity, Area: "hooks", Message: message, Cure: cure})
	}
	agents := registration.AgentsOf(env, root)
	registered := generic || len(registration.RegisteredAgents(env, root)) > 0
	lines := map[string]bool{}
	used := false
	for i := range agents {
		a := &agents[i]
		used = used || a.Used()
		found, findings, err := a.Found()
		if err != nil {
			l.severe("hooks", "make the file readable", "the settings of %s cannot be read: %s", a.Title, problem.Text(err))
			continue
		}
		known := a.Completion(env)
		for _, f := range findings {
			if f.Code == register.NotRegistered && !a.Used() {
				continue // not used on this account
			}
			severity, message, cure := registration.DescribeFinding(a, f)
			if f.Code == register.EventMissing || f.Code == register.OtherVersion {
				severity, message = known.Describe(f, severity, message)
			}
			if f.Code == register.NotRegistered && registered {
				severity = registration.Mild // another agent is
			}
			add(severity, cure, message)
			if f.Code == register.NotRegistered {
				last := &(*l)[len(*l)-1]
				last.id, last.agent = notRegistered, a.Title
			}
		}
		for _, e := range found {
			if !lines[e.Command] {
				lines[e.Command] = true
				if severity, message := checkLine(ctx, env, e.Command, try); message != "" {
					add(severity, registration.RegisterCommand(a), a.Title+": "+message)
				}
			}
		}
		for _, f := range a.Check(a.Where, found) {
			severity, message, cure := registration.DescribeFinding(a, f)
			add(severity, cure, message)
		}
	}
	if !registered && !used && !try {
		return // no agent is used here: rewind save is all that is wanted
	}
	if !registered && !used {
		l.mild("hooks", "rewind config --register-hooks --agent claude", "no agent calls rewind: only rewind save takes checkpoints")
	}
}

// inOne says of all agents that do not call rewind in one line, in the place of the first.
func (l findings) inOne() (out findings) {
	var titles []string
	first := -1
	for _, f := range l {
		if f.id != notRegistered {
			out = append(out, f)
			continue
		}
		if titles = append(titles, f.agent); first < 0 {
			first = len(out)
			out = append(out, f)
		}
	}
	if n := len(titles); n > 1 {
		out[first].Message = strings.Join(titles[:n-1], ", ") + " and " + titles[n-1] + " do not call rewind"
		out[first].Cure = "rewind config --register-hooks"
	}
	return out
}

// lineTime is how long a registered line may take with nothing to do.
const lineTime = 10 * time.Second

// checkLine says what is wrong with a registered command line.
func checkLine(ctx context.Context, env account.Env, line string, try bool) (severity, message string) {
	program := firstWord(register.Unguarded(line))
	if filepath.IsAbs(program) {
		info, err := os.Stat(program)
		switch {
		case err != nil:
			return registration.Severe, fmt.Sprintf("its hooks run %s, which does not exist", program)
		case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
			return registration.Severe, fmt.Sprintf("its hooks run %s, which is not executable", program)
		}
		if reason := passing(program, env.Home); reason != "" && try {
			return registration.Mild, fmt.Sprintf("its hooks run %s, which is %s", program, reason)
		}
	}
	if !try {
		return "", ""
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		return "", "" // no such shell here: nothing to try it with
	}
	ctx, cancel := context.WithTimeout(ctx, lineTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, shell, "-c", line)
	cmd.Env = []string{}
	cmd.Dir = "/"
	cmd.Stdin = strings.NewReader("{}")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err = cmd.Run()
	switch {
	case err != nil:
		return registration.Severe, fmt.Sprintf("its hook command %s fails in an empty environment: %v %s", app.Quote(line), err, app.FirstLine(strings.TrimSpace(output.String())))
	case output.Len() > 0:
		return registration.Severe, fmt.Sprintf("its hook command %s prints something: %s", app.Quote(line), app.FirstLine(strings.TrimSpace(output.String())))
	}
	return "", ""
}

// firstWord is the program of a command line, as a POSIX shell reads single and
// double quotes; "" where it needs a shell to know.
func firstWord(line string) string {
	var out strings.Builder
	line = strings.TrimLeft(line, " \t")
	for len(line) > 0 {
		switch ch := line[0]; ch {
		case '\'':
			end := strings.IndexByte(line[1:], '\'')
			if end < 0 {
				return ""
			}
			out.WriteString(line[1 : 1+end])
			line = line[end+2:]
		case '\\':
			if len(line) < 2 {
				return ""
			}
			out.WriteByte(line[1])
			line = line[2:]
		case '"', '$', '`', '(', '~', '*', '?', '[', '{':
			return ""
		case ' ', '\t', ';', '&', '|', '\n':
			return out.String()
		default:
			out.WriteByte(ch)
			line = line[1:]
		}
	}
	return out.String()
}
