package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/spf13/pflag"
)

// newMan writes the manual. It is hidden, since installers call it.
func newMan() *app.Command {
	return &app.Command{
		Name:  "man",
		Usage: "<dir>",
		Short: "write the manual pages to a directory",
		Long: "Writes rewind.1 and a page for each command. The directory is created; pages in it are\n" +
			"replaced. They bear the date of the build, or of $SOURCE_DATE_EPOCH.",
		Examples: []app.Example{{Line: "rewind man ~/.local/share/man/man1", Does: "for man rewind-restore"}},
		Answers:  app.Answers{"man": manView{}},
		MinArgs:  1, MaxArgs: 1,
		Run: runMan,
	}
}

// manView answers man.
type manView struct {
	Dir   string   `json:"dir"`
	Pages []string `json:"pages"`
}

func runMan(_ context.Context, c *app.Call) error {
	dir := c.Args[0]
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.Env.Dir, dir)
	}
	date, err := buildDate(c.Env.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	v := manView{Dir: dir, Pages: []string{}}
	for _, p := range manual(date) {
		if err := os.WriteFile(filepath.Join(dir, p.name), []byte(p.text), 0o644); err != nil {
			return err
		}
		v.Pages = append(v.Pages, p.name)
	}
	c.Out.Summary("Wrote %s to %s.", app.Plural(len(v.Pages), "page", "pages"), app.Escape(dir))
	return c.Document(v)
}

// buildDate is the day that the pages bear, as 2006-01-02.
func buildDate(epoch string) (string, error) {
	if epoch != "" {
		n, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil || n < 0 {
			return "", app.Usagef("SOURCE_DATE_EPOCH is not a number of seconds: %s", app.Quote(epoch))
		}
		return time.Unix(n, 0).UTC().Format(time.DateOnly), nil
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.time" && len(s.Value) >= len(time.DateOnly) {
				return s.Value[:len(time.DateOnly)], nil
			}
		}
	}
	return time.Now().UTC().Format(time.DateOnly), nil
}

type manPage struct{ name, text string }

// manual is all pages, made of what --help is made of.
func manual(date string) []manPage {
	pages := []manPage{{"rewind.1", overviewPage(date)}}
	for _, e := range entries() {
		if !e.hidden {
			pages = append(pages, manPage{"rewind-" + e.name + ".1", commandPage(e.make(), date)})
		}
	}
	return pages
}

// roff is the text of one page.
type roff struct{ strings.Builder }

// macro writes a request; its arguments are quoted.
func (r *roff) macro(name string, args ...string) {
	r.WriteString("." + name)
	for _, a := range args {
		r.WriteString(` "` + strings.ReplaceAll(roffText(a), `"`, `\(dq`) + `"`)
	}
	r.WriteByte('\n')
}

// text writes one line; a dot or a quote at its beginning is not a request.
func (r *roff) text(line string) {
	line = roffText(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	r.WriteString(line + "\n")
}

// roffText is a text as it is to be read: no escapes, no hyphens for dashes.
func roffText(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "…", `\&...`, "·", `\(pc`, "→", `\(->`).Replace(s)
}

func (r *roff) head(page, date string) {
	fmt.Fprintf(r, ".TH \"%s\" \"1\" \"%s\" \"%s\" \"rewind\"\n", roffText(strings.ToUpper(page)), date, roffText("rewind "+app.VersionText()))
}

// prose writes a help text: paragraphs are filled, what is set out in columns or
// indented stays as it is.
func (r *roff) prose(long string) {
	for i, part := range strings.Split(long, "\n\n") {
		if i > 0 {
			r.macro("PP")
		}
		lines := strings.Split(part, "\n")
		if !setOut(lines) {
			for _, l := range lines {
				r.text(l)
			}
			continue
		}
		r.macro("nf")
		for _, l := range lines {
			r.text(l)
		}
		r.macro("fi")
	}
}

func setOut(lines []string) bool {
	for _, l := range lines {
		if strings.HasPrefix(l, " ") || strings.Contains(strings.TrimSpace(l), "  ") {
			return true
		}
	}
	return false
}

func (r *roff) flags(f *pflag.FlagSet) {
	f.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		r.macro("TP")
		r.WriteString(`\fB` + roffText(name) + `\fR`)
		if value != "" {
			r.WriteString(` \fI` + roffText(value) + `\fR`)
		}
		r.WriteByte('\n')
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "[]" {
			usage += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		r.text(usage)
	})
}

func (r *roff) item(term, text string) {
	r.macro("TP")
	r.macro("B", term)
	r.text(text)
}

func commandPage(cmd *app.Command, date string) string {
	var r roff
	r.head("rewind-"+cmd.Name, date)
	r.macro("SH", "NAME")
	r.text("rewind-" + cmd.Name + " - " + cmd.Short)
	r.macro("SH", "SYNOPSIS")
	r.WriteString(`\fBrewind ` + roffText(cmd.Name) + `\fR`)
	if cmd.Usage != "" {
		r.WriteString(" " + roffText(cmd.Usage))
	}
	r.WriteByte('\n')
	r.macro("SH", "DESCRIPTION")
	r.prose(cmd.Long)
	if own := cmd.OwnFlags(); own.HasFlags() {
		r.macro("SH", "OPTIONS")
		r.flags(own)
	}
	r.macro("SH", "GLOBAL OPTIONS")
	r.flags(globalFlags())
	if len(cmd.Examples) > 0 {
		r.macro("SH", "EXAMPLES")
		for _, e := range cmd.Examples {
			r.item(e.Line, e.Does)
		}
	}
	r.macro("SH", "EXIT STATUS")
	for _, e := range statuses(cmd) {
		r.item(strconv.Itoa(e.code), e.meaning)
	}
	r.macro("SH", "SEE ALSO")
	r.seeAlso(cmd.Name)
	return r.String()
}

// seeAlso names the page of all commands and those of the group that name is in.
func (r *roff) seeAlso(name string) {
	pages := []string{`\fBrewind\fR(1)`}
	grouped(func(_ string, commands []*app.Command) {
		var others []string
		found := false
		for _, c := range commands {
			if c.Name == name {
				found = true
			} else {
				others = append(others, `\fBrewind\-`+roffText(c.Name)+`\fR(1)`)
			}
		}
		if found {
			pages = append(pages, others...)
		}
	})
	r.WriteString(strings.Join(pages, ",\n") + "\n")
}

func overviewPage(date string) string {
	var r roff
	r.head("rewind", date)
	r.macro("SH", "NAME")
	r.text("rewind - take checkpoints of a project and restore them exactly")
	r.macro("SH", "SYNOPSIS")
	r.WriteString("\\fBrewind\\fR [command] [flags]\n")
	r.macro("SH", "DESCRIPTION")
	r.text("A checkpoint is the tree of a project as it is on disk, and the conversation of the agent that works in it.")
	r.text("rewind takes one when you ask for it, and before agents change something, and restores any of them exactly; a restore can be undone, too.")
	r.macro("PP")
	r.text(overviewBare)
	r.macro("SH", "COMMANDS")
	grouped(func(title string, commands []*app.Command) {
		r.macro("SS", title)
		for _, c := range commands {
			r.macro("TP")
			r.WriteString(`\fBrewind\-` + roffText(c.Name) + "\\fR(1)\n")
			r.text(c.Short)
		}
	})
	r.macro("SH", "GLOBAL OPTIONS")
	r.flags(globalFlags())
	r.macro("SH", "NAMING A CHECKPOINT")
	r.text(strings.Join(namingLines[:], " "))
	r.macro("SH", "ENVIRONMENT")
	for _, v := range environmentTexts {
		r.item(v[0], v[1])
	}
	r.macro("SH", "FILES")
	for _, v := range fileTexts {
		r.item(v[0], v[1])
	}
	r.macro("SH", "EXIT STATUS")
	for _, code := range []int{app.ExitOK, app.ExitFailed, app.ExitUsage, app.ExitPartial, app.ExitNoProject, app.ExitNotFound, app.ExitBusy, app.ExitDamaged, app.ExitRefused, app.ExitInterrupted} {
		r.item(strconv.Itoa(code), app.ExitMeaning(code))
	}
	r.macro("SH", "SEE ALSO")
	r.WriteString("\\fBrewind\\-restore\\fR(1),\n\\fBrewind\\-list\\fR(1),\n\\fBgit\\fR(1)\n")
	return r.String()
}

var environmentTexts = [...][2]string{
	{"REWIND_PROJECT_ROOT", "the project's directory, where the working directory is inside it; agents' hooks export it"},
	{"REWIND_SESSION_ID, REWIND_TRANSCRIPT_PATH, REWIND_AGENT", "the agent's session that the shell belongs to; agents' hooks export them"},
	{"REWIND_TIER", "overrides the setting tier"},
	{"REWIND_DEBUG", "makes hooks say on stderr what they do"},
	{"REWIND_PAGER, PAGER", "the first that is set shows long answers at a terminal, else less"},
	{"NO_COLOR", "anything: no colours"},
}

var fileTexts = [...][2]string{
	{".agent/rewind", "the store of a project; with init --mode global it is under ~/.rewind instead"},
	{".rewindignore", "patterns, as in .gitignore, of what is not captured"},
	{"~/.rewind/config.json", "settings of the account; config.json in a store holds the project's"},
	{"~/.rewind/vault", "mirrors of the stores' packs, from which a lost store comes back"},
}
