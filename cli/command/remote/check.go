package remote

import (
	"context"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/remote"
	"github.com/rewind-cli/rewind/engine/remote/bucket"
)

type checkedView struct {
	Remote      string           `json:"remote"`
	OK          bool             `json:"ok"`
	Logs        []checkedLogView `json:"logs"`
	Segments    int              `json:"segments"`
	Objects     int              `json:"objects"` // that hold the segments
	Packs       int              `json:"packs"`
	Bytes       int64            `json:"bytes"`    // of objects and packs
	Unneeded    freedView        `json:"unneeded"` // what remote gc can remove, now or later
	Torn        []string         `json:"torn"`
	Damaged     []string         `json:"damaged"` // a sentence each
	Read        bool             `json:"read"`    // the key is here: what segments name was looked at
	Credentials credentialsView  `json:"credentials"`
	Versioned   *bool            `json:"versioned"` // null: the place does not say
	Locked      *bool            `json:"locked"`
	Requests    int              `json:"requests"`
}

type checkedLogView struct {
	Log     string `json:"log"`
	Machine string `json:"machine"`
	Pushed  string `json:"pushed"`
	Signed  bool   `json:"signed"`
	Damaged bool   `json:"damaged"` // something of it could not be read
}

type credentialsView struct {
	Overwrite   bool `json:"overwrite"`
	Delete      bool `json:"delete"`
	Conditional bool `json:"conditional"` // the server refuses to overwrite where it is asked to
}

func check(ctx context.Context, c *app.Call, p *project.Project, name string, policy bool) error {
	r, err := remote.Find(p, name)
	if err != nil {
		return err
	}
	if policy {
		text, err := r.Policy()
		if err != nil {
			return err
		}
		c.Out.Line("%s", text) // which is JSON itself
		c.Out.Hint("give it to the user or role of each machine that pushes, and turn on versioning of the bucket; rewind remote gc needs other credentials")
		return nil
	}
	done, err := r.Check(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := c.Out.Document(viewChecked(done)); err != nil {
			return err
		}
	} else {
		sayChecked(c, done)
	}
	if n := len(done.Damaged); n > 0 {
		return &app.FailedError{Failure: app.Failure{Code: app.ExitDamaged, Message: "the remote " + r.Name + " is damaged: " + app.Plural(n, "problem", "problems") + " found",
			Hint: "on the machine that pushed it: rewind push --repair sends it again"}}
	}
	return nil
}

func viewChecked(done *remote.Checked) checkedView {
	return checkedView{Remote: done.Remote.Name, OK: len(done.Damaged) == 0,
		Logs: app.Map(done.Logs, func(l remote.CheckedLog) checkedLogView {
			return checkedLogView{l.ID, l.Machine, app.ViewTime(l.Pushed), l.Signed, l.Damaged}
		}),
		Segments: done.Segments, Objects: done.Objects.Objects, Packs: done.Packs.Objects, Bytes: done.Objects.Bytes + done.Packs.Bytes,
		Unneeded: viewFreed(done.Unneeded), Torn: append([]string{}, done.Torn...),
		Damaged: app.Map(done.Damaged, error.Error), Read: done.Read,
		Credentials: credentialsView{done.Can.Overwrite, done.Can.Delete, done.Can.Conditional},
		Versioned:   done.Versioned, Locked: done.Locked}
}

func sayChecked(c *app.Call, done *remote.Checked) {
	say := c.Out.Summary
	for _, err := range done.Damaged {
		c.Out.Line("damaged: %s", app.Escape(err.Error()))
	}
	say("%s holds %s of %s in %s, and %s: %s.", done.Remote.Name, app.Plural(len(done.Logs), "log", "logs"), app.Plural(done.Segments, "push", "pushes"),
		app.Plural(done.Objects.Objects, "object", "objects"), app.Plural(done.Packs.Objects, "pack", "packs"), app.FormatSize(done.Objects.Bytes+done.Packs.Bytes))
	for _, l := range done.Logs {
		machine := l.Machine
		if machine == "" {
			machine = "a machine that is not known"
		}
		damaged := ""
		if l.Damaged {
			damaged = "  damaged"
		}
		c.Out.Line("log %s  %s  %s%s", l.ID, app.Escape(machine), app.Ago(c.Out, l.Pushed), damaged)
		if done.Read && !l.Signed && !l.Damaged {
			c.Out.Warn("the log %s was pushed, in part or as a whole, without the remote's key", l.ID)
		}
	}
	if !done.Read {
		c.Out.Warn("this account does not have the remote's key: what the logs need was not looked at")
	}
	if n := len(done.Torn); n > 0 {
		say("%s not whole, of an interrupted push, or damaged: no other object needs %s. The machine that pushed %s knows: rewind remote check there.", app.Plural(n, "object is", "objects are"), app.ItOrThem(n), app.ItOrThem(n))
	}
	if done.Unneeded.Objects > 0 {
		say("%s (%s) %s no longer needed: rewind remote gc removes %s.", app.Plural(done.Unneeded.Objects, "object", "objects"), app.FormatSize(done.Unneeded.Bytes), app.ByCount(done.Unneeded.Objects, "is", "are"), app.ItOrThem(done.Unneeded.Objects))
	}
	say("%s", abilities(done.Can))
	sayIs(c, done.Versioned, "Versioning is on: older versions of objects stay.", "Versioning is off: what is overwritten or deleted is gone.")
	sayIs(c, done.Locked, "Objects can be locked against removal.", "")
	if policyFor(done.Remote, done.Can) != "" && (done.Can.Overwrite || done.Can.Delete) {
		c.Out.Hint("rewind remote check --policy prints a policy that prevents this")
	}
}

func abilities(can bucket.Capabilities) string {
	switch {
	case can.Overwrite && can.Delete:
		return "These credentials can overwrite and delete what is pushed."
	case can.Overwrite:
		return "These credentials can overwrite what is pushed, and not delete it."
	case can.Delete:
		return "These credentials can delete what is pushed, and not overwrite it."
	}
	return "These credentials can neither overwrite nor delete what is pushed."
}

// policyFor is the policy for a place; "" where it is no bucket, or does not know the policy's condition, so that it would refuse each push.
func policyFor(r *remote.Remote, can bucket.Capabilities) string {
	text, err := r.Policy()
	if err != nil || !can.Conditional {
		return ""
	}
	return text
}

func sayIs(c *app.Call, is *bool, yes, no string) {
	if is != nil && *is {
		c.Out.Summary("%s", yes)
	} else if is != nil && no != "" {
		c.Out.Summary("%s", no)
	}
}
