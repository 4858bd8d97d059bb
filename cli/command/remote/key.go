package remote

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/engine/remote/keyring"
)

// keyFlags are the flags about keys.
type keyFlags struct {
	file       string // of clone, remote add and remote key
	passphrase string // a file, or fromTerminal
	rewrite    bool
}

const (
	fromTerminal = "-"     // also standard input
	maxKeyFile   = 1 << 20 // bytes that are read of it
)

func (k *keyFlags) addTo(f *pflag.FlagSet, file, passphrase string) {
	f.StringVar(&k.file, "key", "", file)
	f.StringVar(&k.passphrase, "passphrase", "", passphrase)
	f.Lookup("passphrase").NoOptDefVal = fromTerminal
}

// given is what the flags give to open a remote's key with.
func (k keyFlags) given(c *app.Call) (g remote.GivenKey, err error) {
	if c.Out.Interactive() {
		g.Ask = c.Out.AskSecret
	}
	if k.file == fromTerminal {
		data, err := io.ReadAll(io.LimitReader(c.Out.Stdin, maxKeyFile))
		if err != nil {
			return g, err
		}
		if g.Text = strings.TrimSpace(string(data)); g.Text == "" {
			return g, &app.UsageError{Msg: "there is no key on standard input", Hint: "--key FILE reads it from a file"}
		}
	} else if k.file != "" {
		g.File = inDir(c, k.file)
		data, err := os.ReadFile(g.File)
		if err != nil {
			return g, err
		}
		g.Text = string(data)
	}
	g.Passphrase, err = k.readPassphrase(c, false)
	return g, err
}

// readPassphrase reads a passphrase from its file, or asks for it, twice for a new one; "" where none was asked for.
func (k keyFlags) readPassphrase(c *app.Call, isNew bool) (string, error) {
	switch k.passphrase {
	case "":
		return "", nil
	case fromTerminal:
		if !c.Out.Interactive() {
			return "", &app.UsageError{Msg: "there is no terminal to ask for the passphrase", Hint: "--passphrase=FILE reads it from a file"}
		}
		text, err := c.Out.AskSecret("Passphrase of the remote: ")
		if err == nil && isNew && len(text) > 0 {
			var again []byte
			if again, err = c.Out.AskSecret("Again: "); err == nil && string(again) != string(text) {
				return "", &app.UsageError{Msg: "the two passphrases differ"}
			}
		}
		if err == nil && len(text) == 0 {
			err = &app.UsageError{Msg: "the passphrase is empty"}
		}
		return string(text), err
	}
	data, err := os.ReadFile(inDir(c, k.passphrase))
	if err != nil {
		return "", err
	}
	text := strings.TrimRight(string(data), "\r\n")
	if text == "" {
		return "", &app.UsageError{Msg: "the passphrase is empty"}
	}
	return text, nil
}

func inDir(c *app.Call, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(c.Env.Dir, file)
}

// key runs the verbs of remote key.
func key(ctx context.Context, c *app.Call, p *project.Project, args []string, k keyFlags) error {
	verb := ""
	if len(args) > 0 && (args[0] == "add" || args[0] == "remove" || args[0] == "rotate") {
		verb, args = args[0], args[1:]
	}
	name := ""
	if len(args) > 0 {
		if _, err := remote.Find(p, args[0]); err == nil || verb == "" || verb == "rotate" {
			name, args = args[0], args[1:]
		}
	}
	switch {
	case verb == "remove" && len(args) == 0:
		return &app.UsageError{Msg: "too few arguments: a public key is missing", Hint: "rewind remote key remove KEY"}
	case verb == "add" && len(args) == 0 && k.passphrase == "":
		return &app.UsageError{Msg: "too few arguments: a public key is missing", Hint: "rewind remote key add KEY, or --passphrase"}
	case (verb == "" || verb == "rotate") && len(args) > 0:
		return &app.UsageError{Msg: "unexpected argument " + app.Quote(args[0]), Hint: "rewind remote key add, remove or rotate"}
	case k.rewrite && verb != "rotate":
		return &app.UsageError{Msg: "--rewrite goes with key rotate", Hint: "rewind remote key rotate --rewrite"}
	case k.file != "" && verb != "":
		return &app.UsageError{Msg: "--key goes with add and with key alone", Hint: "rewind remote key --key FILE"}
	}
	r, err := remote.Find(p, name)
	if err != nil {
		return err
	}
	switch verb {
	case "add":
		return addPeople(ctx, c, r, args, k)
	case "remove":
		return removePeople(ctx, c, r, args)
	case "rotate":
		return rotate(ctx, c, r, k)
	}
	return showKey(ctx, c, r, k)
}

type keyView struct {
	Remote string   `json:"remote"`
	Key    string   `json:"key"`
	Epoch  int      `json:"epoch"`
	Newer  bool     `json:"newer"`
	People []string `json:"people"`
}

// showKey prints the key, as a file of age identities, and for whom it is sealed.
func showKey(ctx context.Context, c *app.Call, r *remote.Remote, k keyFlags) error {
	given, err := k.given(c)
	if err != nil {
		return err
	}
	v := keyView{Remote: r.Name, People: []string{}}
	s, err := r.Keyring(ctx, given)
	if err != nil {
		have, kerr := r.Key()
		if kerr != nil || given.Text != "" || given.Passphrase != "" {
			return err
		}
		c.Out.Warn("for whom the key is sealed is not known now: %s", app.Escape(err.Error()))
		v.Key, v.Epoch, v.Newer = have.String(), r.Epoch(), r.Newer
	} else {
		v.Key, v.Epoch, v.Newer = s.Current().String(), s.Epoch(), s.Newer
		v.People = app.Map(s.People, func(o keyring.Opens) string { return o.For })
	}
	if c.JSON {
		return c.Out.Document(v)
	}
	c.Out.Line("# key %d of %s", v.Epoch, app.Escape(r.URL))
	for _, of := range v.People {
		c.Out.Line("# sealed for %s", app.Escape(of))
	}
	c.Out.Line("%s", v.Key)
	if v.Newer {
		c.Out.Warn("the remote has a newer key, which this account does not have: what it pushes can be read with the old one")
		c.Out.Hint("rewind remote key --key FILE opens it with a key of yours, or with the line that rewind remote key prints elsewhere")
	}
	return nil
}

type peopleView struct {
	Remote  string   `json:"remote"`
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
}

func addPeople(ctx context.Context, c *app.Call, r *remote.Remote, args []string, k keyFlags) error {
	var people []keyring.Person
	for _, text := range args {
		some, err := readPeople(c, text)
		if err != nil {
			return &app.UsageError{Msg: err.Error(), Hint: "give a public key, or a file of these, such as ~/.ssh/id_ed25519.pub"}
		}
		people = append(people, some...)
	}
	text, err := k.readPassphrase(c, true)
	if err != nil {
		return err
	}
	if text != "" {
		with, err := keyring.WithPassphrase(text)
		if err != nil {
			return err
		}
		people = append(people, with)
	}
	added, err := r.AddPeople(ctx, people)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Out.Document(peopleView{r.Name, append([]string{}, added...), []string{}})
	}
	for _, of := range added {
		c.Out.Summary("The key of %s is sealed for %s now.", r.Name, app.Escape(keyring.Short(of)))
	}
	if len(added) == 0 {
		c.Out.Summary("The key of %s was sealed for %s already.", r.Name, app.ItOrThem(len(people)))
	}
	c.Out.Hint("elsewhere: rewind clone %s DIR --key FILE, or --passphrase", app.ShellQuote(r.URL))
	return nil
}

// readPeople reads an argument that names public keys: one, or a file of these.
func readPeople(c *app.Call, text string) ([]keyring.Person, error) {
	if data, err := os.ReadFile(inDir(c, text)); err == nil {
		text = string(data)
	}
	return keyring.ParsePeople(text)
}

func removePeople(ctx context.Context, c *app.Call, r *remote.Remote, args []string) error {
	v := peopleView{r.Name, []string{}, []string{}}
	var texts []string
	for _, text := range args {
		some, err := readPeople(c, text)
		if err != nil { // it is a comment, or the passphrase
			some = []keyring.Person{{Text: text}}
		}
		texts = append(texts, app.Map(some, func(p keyring.Person) string { return p.Text })...)
	}
	for _, text := range texts {
		gone, deleted, err := r.RemovePerson(ctx, text)
		if err != nil {
			return err
		}
		v.Removed = append(v.Removed, gone...)
		if !c.JSON {
			for _, of := range gone {
				c.Out.Summary("The next key of %s is not sealed for %s.", r.Name, app.Escape(keyring.Short(of)))
			}
		}
		if !deleted {
			c.Out.Warn("the remote does not let its objects be deleted: with that key, the one of now can still be opened")
		}
	}
	if c.JSON {
		return c.Out.Document(v)
	}
	c.Out.Hint("who had the key can go on reading what it opens: rewind remote key rotate makes a new one for what is pushed from now on")
	return nil
}

type rotatedView struct {
	Remote string      `json:"remote"`
	Key    string      `json:"key"`
	Epoch  int         `json:"epoch"`
	People []string    `json:"people"` // for whom it is sealed
	Left   []string    `json:"left"`   // for whom it could not be, and the old one was
	Pushed *pushedView `json:"pushed"` // with --rewrite
	Old    string      `json:"old"`    // with --rewrite, the log of before, which is still there; "": none
	Others []string    `json:"others"` // with --rewrite, all further logs there
}

func rotate(ctx context.Context, c *app.Call, r *remote.Remote, k keyFlags) error {
	text, err := k.readPassphrase(c, true)
	if err != nil {
		return err
	}
	done, err := r.Rotate(ctx, remote.RotateOptions{Rewrite: k.rewrite, Passphrase: text})
	if done == nil {
		return err
	}
	c.Out.EndProgress()
	if c.JSON && err == nil {
		v := rotatedView{r.Name, done.Key.String(), r.Epoch(), append([]string{}, done.People...), append([]string{}, done.Left...), nil, done.Old, app.Map(done.Others, func(l remote.Log) string { return l.ID })}
		if done.Pushed != nil {
			v.Pushed = new(viewPushed(r.Name, done.Pushed, 0))
		}
		return c.Out.Document(v)
	}
	c.Out.Summary("%s has a new key, number %d. What is pushed from now on can only be read with it; it also opens what was pushed before:", r.Name, r.Epoch())
	c.Out.Line("  %s", done.Key)
	for _, of := range done.People {
		c.Out.Summary("It is sealed for %s.", app.Escape(keyring.Short(of)))
	}
	for _, of := range done.Left {
		what := of
		if of == keyring.Passphrase {
			what = "the passphrase; rewind remote key add --passphrase does that"
		}
		c.Out.Warn("it is not sealed for %s", app.Escape(what))
	}
	if err != nil {
		return err
	}
	c.Out.Hint("keep the key outside this machine. Other machines go on with the old key until they have this one: rewind remote key --key FILE there")
	if done.Pushed == nil {
		c.Out.Hint("who has the old key can still read what was pushed before: rewind remote key rotate --rewrite pushes all again, and then the old objects can be deleted")
		return nil
	}
	c.Out.Summary("Pushed %s again, sealed for it: %s.", app.Plural(done.Pushed.Checkpoints, "checkpoint", "checkpoints"), app.FormatSize(done.Pushed.Bytes))
	if done.Old != "" {
		c.Out.Warn("the log %s, of before, is still there, for who has the old key", done.Old)
		c.Out.Hint("rewind remote gc %s --log %s deletes it", r.Name, done.Old)
	}
	for _, l := range done.Others {
		c.Out.Warn("the log %s is still there, too: another machine's, or one that this store began before a forget", l.ID)
	}
	if len(done.Others) > 0 {
		c.Out.Hint("rewind remote check %s says which machine pushed each; what forget removed stays in those of before, until rewind remote gc %s --log ID deletes them", r.Name, r.Name)
	}
	return nil
}
