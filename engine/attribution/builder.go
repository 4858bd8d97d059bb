package attribution

import (
	"slices"
	"time"

	"github.com/rewind-cli/rewind/engine/transcript"
)

// builder makes windows of lines, which come in the log's order.
type builder struct {
	windows []*window
	turns   []*window
	open    map[source][]*window
	running map[source][]*window // of those that are open, the ones that have no end so far
	ended   map[source]*window   // whose end was reported last
	sources map[source][]source  // that have open windows, by their main ones
	turn    map[source]*window
	last    map[source]time.Time
	lastSeq map[source]uint64
	tells   map[source]bool // sessions that report calls
	told    map[toolOf]bool // tools whose ends of calls are reported, too
	edits   map[string]bool // agents that tell of the ends of their edits
	agents  map[string]bool // that report calls, in any session
	prompt  map[source]Work // the newest: PromptID and Prompt
	within  map[string]Work // by the id of what came into a running turn: the prompt of that
	texts   map[string]string
	seen    map[lineKey]bool
}

// hooked reports whether the hooks that are registered for an agent tell of all calls that can write, and of their ends.
// Of scripts, and of what is not known by name, the log shows it.
func hooked(agent string) bool { return agent != "" && agent != "generic" }

type toolOf struct{ agent, tool string }

type lineKey struct {
	at   int64
	of   source
	call string
	edge edge
}

func newBuilder() *builder {
	return &builder{told: map[toolOf]bool{}, edits: map[string]bool{}, agents: map[string]bool{}, lastSeq: map[source]uint64{}, open: map[source][]*window{},
		running: map[source][]*window{}, ended: map[source]*window{}, sources: map[source][]source{}, turn: map[source]*window{}, last: map[source]time.Time{}, tells: map[source]bool{},
		prompt: map[source]Work{}, within: map[string]Work{}, texts: map[string]string{}, seen: map[lineKey]bool{}}
}

func (b *builder) add(l line) {
	of := l.source()
	key := lineKey{l.Start.UnixNano(), of, l.Call, l.edge}
	if b.seen[key] {
		return // a commit that was interrupted
	}
	b.seen[key] = true
	loose := !l.before.IsZero() && l.Start.Before(l.before.Add(-coarse)) && !l.old
	b.ask(&l)
	switch l.edge {
	case opens:
		if slices.ContainsFunc(b.running[of], func(w *window) bool { return w.closed == 0 && w.reported(&l, w.Start) }) {
			break
		}
		b.pause(of, l, loose)
		if l.kind == none {
			break
		}
		b.tells[of.main()] = true
		w := &window{Work: l.Work, of: of, kind: l.kind, files: l.files, opened: l.seq, loose: loose, background: l.background, old: l.old}
		b.begin(w)
	case closes:
		b.close(of, l, loose)
	case misses:
		b.miss(of, l)
		return
	default:
		b.point(of, l, loose)
	}
	b.last[of], b.lastSeq[of] = l.Start, l.seq
}

// begin opens a window.
func (b *builder) begin(w *window) {
	b.windows = append(b.windows, w)
	if _, ok := b.open[w.of]; !ok {
		b.sources[w.of.main()] = append(b.sources[w.of.main()], w.of)
	}
	b.open[w.of] = append(b.open[w.of], w)
	b.running[w.of] = append(b.running[w.of], w)
}

// ask gives the line its prompt.
func (b *builder) ask(l *line) {
	of := l.source().main()
	if l.edge == prompts {
		if l.Prompt == "" {
			l.Prompt = b.texts[l.PromptID]
		}
		if newest, ok := b.prompt[of]; ok && (newest.PromptID != "" && l.PromptID == newest.PromptID || !transcript.Typed(transcript.Agent(l.Agent), l.Prompt)) {
			// Typed while the agent worked, or added by the client: the turn continues.
			if l.PromptID != "" {
				b.within[l.PromptID] = newest
			}
			l.PromptID, l.Prompt = newest.PromptID, newest.Prompt
			return
		}
		b.prompt[of] = Work{PromptID: l.PromptID, Prompt: l.Prompt}
		return
	}
	newest := b.prompt[of]
	if turn, ok := b.within[l.PromptID]; ok && l.PromptID != "" {
		l.PromptID, l.Prompt = turn.PromptID, turn.Prompt
		return
	}
	switch {
	case l.PromptID == "" || l.PromptID == newest.PromptID:
		l.PromptID, l.Prompt = newest.PromptID, newest.Prompt
	case b.texts[l.PromptID] != "":
		l.Prompt = b.texts[l.PromptID]
	}
}

// pause sets a provisional end on the source's open windows. It becomes final if no later event closes them. If the agent
// reports the ends of calls of a kind, another call does not end such a call.
func (b *builder) pause(of source, l line, loose bool) {
	call := l.edge == opens || l.edge == closes
	running := b.running[of]
	for _, w := range running {
		if w.closed == 0 && !w.background && !(call && b.told[toolOf{w.Agent, w.Tool}]) {
			w.end(l, loose)
			w.doubtful = w.kind == edit && !w.old && (b.edits[w.Agent] || hooked(w.Agent))
		}
	}
	b.running[of] = slices.DeleteFunc(running, func(w *window) bool { return w.closed != 0 })
}

func (b *builder) close(of source, l line, loose bool) {
	open := b.open[of]
	at := -1
	for i, w := range slices.Backward(open) { // what ends began a moment ago, mostly
		if w.Call == l.Call && w.Call != "" {
			at = i
			break
		}
		if w.Call == l.Call && w.Tool == l.Tool {
			if at = i; w.Summary == l.Summary {
				break
			}
		}
	}
	if at < 0 {
		if w := b.ended[of]; w != nil && w.reported(&l, w.End) {
			w.end(l, loose)
			return
		}
		b.pause(of, l, loose)
		if l.kind == none {
			return
		}
		// Its beginning was not reported: it is no earlier than the event before it.
		w := &window{Work: l.Work, of: of, kind: l.kind, files: l.files, opened: l.seq, loose: loose, background: l.background, old: l.old}
		if t, ok := b.last[of]; ok && t.Before(l.Start) && l.Start.Sub(t) < unending {
			w.Start = t
		}
		b.tells[of.main()] = true
		if w.background {
			b.begin(w)
			return
		}
		b.windows = append(b.windows, w)
		w.end(l, loose)
		return
	}
	w := open[at]
	if w.kind == edit && l.kind == none && !l.old {
		w.failed = true
		w.end(l, loose)
		b.open[of], b.ended[of] = slices.Delete(open, at, at+1), w
		return
	}
	w.doubtful = false
	if w.background = w.background || l.background; !w.background {
		w.end(l, loose)
		b.open[of], b.ended[of] = slices.Delete(open, at, at+1), w
	}
	for _, f := range l.files {
		if !slices.Contains(w.files, f) {
			w.files = append(w.files, f)
		}
	}
}

// reported reports whether a line repeats what a line at a time said of the call: where hooks are registered twice, both run.
// Two calls without ids of the same words that begin at the same time are one, which lasts until the later one's end.
func (w *window) reported(l *line, at time.Time) bool {
	if w.Call != l.Call || w.Tool != l.Tool || w.PromptID != l.PromptID {
		return false
	}
	return l.Call != "" || w.Summary == l.Summary && l.Start.Sub(at).Abs() <= together
}

// miss takes a line of doubt: in front of a call's end it says what could not be looked at, behind it what others changed, too.
func (b *builder) miss(of source, l line) {
	for _, w := range slices.Backward(b.open[of]) {
		if w.Call == l.Call && w.Tool == l.Tool {
			if w.missed = append(w.missed, l.files...); len(l.files) == 0 {
				w.missed = append(w.missed, "")
			}
			return
		}
	}
	for _, w := range slices.Backward(b.windows) {
		if w.of == of && w.Call == l.Call && w.Tool == l.Tool {
			w.mixed = append(w.mixed, l.files...)
			return
		}
	}
}

// point takes what is no call: a session, a turn or a subagent began or ended.
func (b *builder) point(of source, l line, loose bool) {
	main := of.main()
	left := b.sources[main][:0]
	for _, other := range b.sources[main] {
		if of.subagent != "" && other != of {
			left = append(left, other)
			continue
		}
		b.pause(other, l, loose)
		if l.edge != ends {
			left = append(left, other)
			continue
		}
		for _, w := range b.running[other] {
			w.end(l, loose)
		}
		delete(b.open, other)
		delete(b.running, other)
	}
	b.sources[main] = left
	if of.subagent != "" {
		return
	}
	if t := b.turn[of]; t != nil && l.edge != starts {
		t.end(l, loose)
		delete(b.turn, of)
	} else if before, ok := b.last[of]; ok && l.edge == stops && b.prompt[of] == (Work{}) {
		// An agent that does not tell of prompts: what it was asked, it says at the end.
		t := &window{Work: l.Work, of: of, kind: turn, opened: b.lastSeq[of], loose: loose, old: l.old}
		t.Start = before
		t.end(l, loose)
		b.turns = append(b.turns, t)
	}
	if l.edge == prompts {
		t := &window{Work: l.Work, of: of, kind: turn, opened: l.seq, loose: loose, old: l.old}
		b.turn[of] = t
		b.turns = append(b.turns, t)
	}
}
