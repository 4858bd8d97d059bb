package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/hookio/register"
)

// registeredAgents are the agents that have a hook of ours.
func registeredAgents(env account.Env, root string) []string {
	var out []string
	for _, a := range agentsOf(env, root) {
		if a.state().calls() {
			out = append(out, string(a.Agent))
		}
	}
	return out
}

func hasCode(findings []register.Finding, code register.FindingCode) bool {
	for _, f := range findings {
		if f.Code == code {
			return true
		}
	}
	return false
}

// hookFindings are the states in which agents would not call us, or not
// always. try runs each registered line, as an agent would but with nothing in
// its environment.
func hookFindings(ctx context.Context, env account.Env, root string, try bool) []finding {
	var out []finding
	add := func(severity, cure, format string, args ...any) {
		out = append(out, finding{Severity: severity, Area: "hooks", Message: fmt.Sprintf(format, args...), Cure: cure})
	}
	agents := agentsOf(env, root)
	registered := len(registeredAgents(env, root)) > 0
	lines := map[string]bool{}
	used := false
	for i := range agents {
		a := &agents[i]
		used = used || a.present()
		found, findings, err := a.inspect()
		if err != nil {
			add(severe, "make the file readable", "the settings of %s cannot be read: %s", a.title, problem.Text(err))
			continue
		}
		known := a.completion(env)
		for _, f := range findings {
			if f.Code == register.NotRegistered && !a.present() {
				continue // not used on this account
			}
			severity, message, cure := describeFinding(a, f)
			if f.Code == register.EventMissing || f.Code == register.OtherVersion {
				severity, message = known.describe(f, severity, message)
			}
			if f.Code == register.NotRegistered && registered {
				severity = mild // another agent is
			}
			add(severity, cure, "%s", message)
			if f.Code == register.NotRegistered {
				last := &out[len(out)-1]
				last.id, last.agent = notRegistered, a.title
			}
		}
		for _, e := range found {
			if !lines[e.Command] {
				lines[e.Command] = true
				if severity, message := checkLine(ctx, env, e.Command, try); message != "" {
					add(severity, registerCommand(a), "%s: %s", a.title, message)
				}
			}
		}
		for _, f := range a.Check(a.where, found) {
			severity, message, cure := describeFinding(a, f)
			add(severity, cure, "%s", message)
		}
	}
	if !registered && !used && !try {
		return out // no agent is used here: rewind save is all that is wanted
	}
	if !registered && !used {
		add(mild, "rewind config --register-hooks --agent claude", "no agent calls rewind: only rewind save takes checkpoints")
	}
	return out
}

// inOne says of all agents that do not call rewind in one line, in the place of the first.
func inOne(findings []finding) (out []finding) {
	var titles []string
	first := -1
	for _, f := range findings {
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

func registerCommand(a *agentFiles) string {
	return "rewind config --register-hooks --agent " + string(a.Agent)
}

// describeFinding says what a finding means, and its cure.
func describeFinding(a *agentFiles, f register.Finding) (severity, message, cure string) {
	again := registerCommand(a)
	switch f.Code {
	case register.FileNotJSON:
		return severe, fmt.Sprintf("%s ignores %s, which is not valid JSON: %s", a.title, f.File, f.Detail), "fix " + f.File
	case register.HooksDisabled:
		return severe, fmt.Sprintf("%s in %s turns off all hooks of %s", f.Detail, f.File, a.title), "remove " + f.Detail + " from " + f.File
	case register.ManagedOnly:
		return severe, fmt.Sprintf("the policy in %s allows %s only managed hooks", f.File, a.title), "ask whoever manages " + f.File
	case register.NotRegistered:
		return severe, fmt.Sprintf("%s does not call rewind", a.title), again
	case register.EventMissing:
		what := f.Event
		if f.Detail != "" {
			what += " for " + f.Detail
		}
		return severe, fmt.Sprintf("%s does not call rewind at %s", a.title, what), again
	case register.RegisteredTwice:
		what := f.Detail
		if f.Event != "" {
			what = f.Event + ": " + what
		}
		cure = "rewind config --unregister-hooks --agent " + string(a.Agent)
		if f.Event != "" {
			cure += " && " + again
		}
		return mild, fmt.Sprintf("%s calls rewind twice: %s", a.title, what), cure
	case register.UnknownEvent:
		return mild, fmt.Sprintf("%s uses the event %s: versions of %s that do not know it ignore all hooks in the file", f.File, f.Event, a.title), "update " + a.title + ", or remove " + f.Event
	case register.OlderTool:
		return mild, fmt.Sprintf("%s still calls the older tool at %s: %s", a.title, f.Event, f.Detail), again
	case register.Shadowed:
		return severe, fmt.Sprintf("%s defines %s, so the hooks for it in %s do not run", f.Detail, f.Event, f.File), again
	case register.Wrapped:
		return severe, fmt.Sprintf("%s has its events inside a \"hooks\" object, so %s runs none of them", f.File, a.title), "move the events to the top level of " + f.File
	case register.WrongShape:
		return severe, fmt.Sprintf("%s in %s does not have the type that %s expects", f.Event, f.File, a.title), "fix " + f.File
	case register.NotOurs:
		return mild, fmt.Sprintf("%s was not written by rewind, but has the name of the file that calls it from %s", f.File, a.title), "move " + f.File + " away"
	case register.OtherVersion:
		return mild, fmt.Sprintf("%s differs from what this version of rewind writes", f.File), again
	case register.StraySetting:
		return mild, fmt.Sprintf("%s in %s has no effect: neither %s nor rewind reads it there", f.Detail, f.File, a.title),
			"remove it from " + f.File + "; rewind config shows what holds"
	case register.AgentsOwn:
		return severe, f.Detail, f.Cure
	}
	return mild, fmt.Sprintf("%s: %s %s %s", a.title, f.Code, f.File, f.Event), ""
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
			return severe, fmt.Sprintf("its hooks run %s, which does not exist", program)
		case !info.Mode().IsRegular() || info.Mode()&0o111 == 0:
			return severe, fmt.Sprintf("its hooks run %s, which is not executable", program)
		}
		if reason := passing(program, env.Home); reason != "" && try {
			return mild, fmt.Sprintf("its hooks run %s, which is %s", program, reason)
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
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	switch {
	case err != nil:
		return severe, fmt.Sprintf("its hook command %s fails in an empty environment: %v %s", quote(line), err, firstLine(strings.TrimSpace(said.String())))
	case said.Len() > 0:
		return severe, fmt.Sprintf("its hook command %s prints something: %s", quote(line), firstLine(strings.TrimSpace(said.String())))
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
