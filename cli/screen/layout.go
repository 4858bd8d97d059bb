package screen

// shape is how the parts are laid out on a screen of a size.
type shape uint8

const (
	single  shape = iota // one pane at a time: the one that has the focus
	stacked              // list above; files and diff, or the conversation, below
	side                 // list at the left; files, diff and conversation at the right
	three                // list, files and diff, conversation
)

// layout says where the panes are. Sizes are of what is in them, without title lines and rules.
type layout struct {
	shape shape
	size  [panes]struct{ w, h int } // 0 high: not on the screen
}

// arrange is the layout of a screen; body is what is left of it below the head and above the last
// line. quiet: there is no conversation, and one line says so.
func arrange(w, body int, focus pane, quiet bool) (l layout) {
	set := func(p pane, w, h int) { l.size[p].w, l.size[p].h = max(w, 0), max(h, 0) }
	switch {
	case w < 50 || body < 10:
		l.shape = single
		set(focus, w, body)
	case w < 110:
		l.shape = stacked
		list := max(body/2, 5)
		below := body - list - 1
		set(listPane, w, list)
		if focus == talkPane {
			set(talkPane, w, below)
			break
		}
		files := max(min(w/3, 40), 20)
		set(filesPane, files, below)
		set(diffPane, w-files-1, below)
	case w < 170:
		l.shape = side
		list := w * 45 / 100
		set(listPane, list, body)
		right, talk := w-list-1, 0
		if body >= 30 || focus == talkPane {
			talk = max(body/4, 3)
			if quiet {
				talk = 1
			}
		}
		l.rightColumn(right, body, talk)
		set(talkPane, right, talk)
	case quiet:
		l.shape = side
		list := w * 35 / 100
		set(listPane, list, body)
		l.rightColumn(w-list-1, body, 1)
		set(talkPane, w-list-1, 1)
	default:
		l.shape = three
		list, talk := w*35/100, w/4
		set(listPane, list, body)
		l.rightColumn(w-list-talk-2, body, 0)
		set(talkPane, talk, body-1)
	}
	return l
}

// rightColumn puts files above the diff, and leaves room for the conversation below them; each has
// a title line.
func (l *layout) rightColumn(w, body, talk int) {
	rest := body - 2
	if talk > 0 {
		rest -= talk + 1
	}
	files := min(max(rest/4, 3), 12)
	l.size[filesPane].w, l.size[filesPane].h = w, files
	l.size[diffPane].w, l.size[diffPane].h = w, max(rest-files, 1)
}

// body is how many lines a pane has.
func (m *Picker) body(p pane) int { return m.layout().size[p].h }

func (m *Picker) layout() layout { return arrange(m.w, max(m.h-2, 1), m.focus, m.quiet) }
