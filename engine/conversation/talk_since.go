package conversation

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/rewind-cli/rewind/cas/oid"
	"github.com/rewind-cli/rewind/cas/vfs"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/session"
	"github.com/rewind-cli/rewind/engine/transcript"
	"github.com/rewind-cli/rewind/manifest"
)

// Bounds of what is read of a transcript that no checkpoint holds: anything can be in it.
const (
	maxSince = 16 << 20  // bytes that came since
	maxLive  = 256 << 20 // bytes of all, which say how they belong together
)

// TalkSince gives what the agent's own transcript has after a checkpoint's: a turn that changes no file has no
// checkpoint at its end. At continues the numbers of Talk. whole is false where there is more that cannot be had:
// the transcript was rewritten, is too long, or is in a form that is not known. Nothing where the checkpoint is
// not its session's newest with a conversation, or the file is gone. Errors: of the store.
func TalkSince(ctx context.Context, p *project.Project, c manifest.Checkpoint, o TalkOptions) (all []Message, whole bool, err error) {
	t := c.Transcript
	if t == nil || t.Content == (oid.ID{}) || t.Path == "" {
		return nil, true, nil
	}
	newest := true
	err = p.Query(ctx, func(db *manifest.DB) error {
		for n, err := range db.Checkpoints(manifest.Query{Session: c.Session}) {
			if err != nil {
				return err
			}
			if n.Transcript != nil {
				newest = n.Seq == c.Seq || n.Transcript.Content == t.Content && n.Transcript.EventID == t.EventID
				break
			}
		}
		return nil
	})
	if err != nil || !newest {
		return nil, true, err
	}
	release, err := p.Use(ctx)
	if err != nil {
		return nil, true, err
	}
	defer release()
	held, err := session.HeldCursor(p, t.Content)
	if err != nil {
		return nil, true, err
	}
	f, info, err := vfs.OpenRegular(t.Path, 0)
	if err != nil {
		return nil, true, nil // what is held is all that there is
	}
	defer f.Close()
	all, whole = since(ctx, f, info, held, t, o)
	return all, whole, ctx.Err()
}

// since reads the file. It is another's: what is wrong with it is no error of ours.
func since(ctx context.Context, f *os.File, info os.FileInfo, held transcript.Cursor, t *manifest.Transcript, o TalkOptions) (all []Message, whole bool) {
	plan, err := transcript.NewPlan(held, f, info.Size(), true)
	if err != nil || plan.Change == transcript.Rewritten {
		return nil, false
	}
	if plan.Change == transcript.Same {
		return nil, true
	}
	end := held.Offset + plan.Segment.Length
	if plan.Segment.Length > maxSince || end > maxLive {
		return nil, false
	}
	read := func() io.Reader { return cancellable{ctx, io.NewSectionReader(f, 0, end)} }
	x, err := transcript.Read(transcript.Agent(t.Agent), read())
	if err != nil {
		return nil, false
	}
	lines, err := x.Along(x.Leaf())
	if err != nil {
		return nil, false
	}
	if here, ok := x.Line(t.EventID); ok { // if the conversation continues from another place, nothing came after this one
		on := false
		for _, i := range lines {
			on = on || x.Lines[i].ID == here.ID
		}
		if !on {
			return nil, true
		}
	}
	all, _, err = talkOf(read(), x, lines, TalkOptions{MaxText: o.MaxText})
	if err != nil {
		return nil, errors.Is(err, context.Canceled)
	}
	after := map[string]bool{}
	for _, i := range lines {
		if x.Lines[i].Offset >= held.Offset {
			after[x.Lines[i].ID] = true
		}
	}
	first := len(all)
	for first > 0 && after[all[first-1].Event] {
		first--
	}
	all = all[first:]
	if o.Limit > 0 && len(all) > o.Limit {
		return all[len(all)-o.Limit:], false
	}
	return all, true
}
