package patch

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
)

// Limits of the search for renames and copies of files whose content is not the same. Past them only
// those with the same content are found.
const (
	maxCompared = 1_000_000 // pairs of one that went and one that came
	maxRead     = 512 << 20 // bytes of all that are read
	minScore    = 50        // percent
	minNamed    = 75        // percent, where nothing else of that name went or came
)

// Detect puts files that came together with those they came from: with one that went, which is a rename,
// or with one that is still there, a copy. others are files that stood in the old tree and do not differ;
// they are sources of copies with the same content. Copies that were changed too are looked for among the
// files that differ, if similarCopies says so. The pairs are given in the same order, a rename
// where its new path was. Errors are those of read and ctx.
func Detect(ctx context.Context, pairs []Pair, others []*File, similarCopies bool, read Source) ([]Pair, error) {
	d := detector{ctx: ctx, pairs: pairs, read: read, similarCopies: similarCopies, chunks: map[*File]chunks{}}
	for i, p := range pairs {
		switch p.Status() {
		case Added:
			d.came = append(d.came, i)
		case Deleted:
			d.went = append(d.went, i)
		case Modified:
			d.stays = append(d.stays, i)
		}
	}
	if len(d.came) == 0 {
		return pairs, nil
	}
	d.from = make([]match, len(pairs))
	d.taken = make([]bool, len(pairs))
	d.exact()
	if err := d.named(); err != nil {
		return nil, err
	}
	if err := d.similar(); err != nil {
		return nil, err
	}
	d.copies(others)
	uses := map[*File]int{} // of what went: what applies the patches in turn needs it until the last
	for _, m := range d.from {
		uses[m.file]++
	}
	wentAway := map[*File]bool{}
	for _, i := range d.went {
		wentAway[pairs[i].Old] = d.taken[i]
	}
	out := make([]Pair, 0, len(pairs))
	for i, p := range pairs {
		switch m := d.from[i]; {
		case m.file != nil:
			uses[m.file]--
			p.Old, p.Score, p.copied = m.file, m.score, !wentAway[m.file] || uses[m.file] > 0
		case d.taken[i]:
			continue // it is its new path's
		}
		out = append(out, p)
	}
	return out, nil
}

// match is where a file came from.
type match struct {
	file   *File
	score  int
	copied bool // at first; of several that came from one that went, the last is its rename
}

type detector struct {
	ctx               context.Context
	pairs             []Pair
	read              Source
	similarCopies     bool
	came, went, stays []int   // indices of pairs
	from              []match // of what came
	taken             []bool  // of what went: it is a rename's
	chunks            map[*File]chunks
	bytes             int64 // read
}

func (d *detector) open(list []int, done func(int) bool) []int {
	var out []int
	for _, i := range list {
		if !done(i) {
			out = append(out, i)
		}
	}
	return out
}

func (d *detector) unmatched() []int {
	return d.open(d.came, func(i int) bool { return d.from[i].file != nil })
}
func (d *detector) untaken() []int { return d.open(d.went, func(i int) bool { return d.taken[i] }) }

func (d *detector) rename(went, came, score int) {
	d.from[came] = match{d.pairs[went].Old, score, false}
	d.taken[went] = true
}

// exact matches files with the same content, those with the same name first.
func (d *detector) exact() {
	for _, key := range []func(*File) string{
		func(f *File) string { return f.Key + "/" + path.Base(f.Path) },
		func(f *File) string { return f.Key },
	} {
		byKey := map[string][]int{}
		for _, i := range d.untaken() {
			k := key(d.pairs[i].Old)
			byKey[k] = append(byKey[k], i)
		}
		for _, i := range d.unmatched() {
			k := key(d.pairs[i].New)
			if list := byKey[k]; len(list) > 0 && sameKind(d.pairs[list[0]].Old, d.pairs[i].New) {
				d.rename(list[0], i, 100)
				byKey[k] = list[1:]
			}
		}
	}
}

func sameKind(a, b *File) bool { return (a.Mode == Symlink) == (b.Mode == Symlink) }

// named matches files that kept a name which only one went and one came with.
func (d *detector) named() error {
	count := func(list []int, file func(Pair) *File) map[string]int {
		out := map[string]int{} // index of the pair, or -1 for several
		for _, i := range list {
			name := path.Base(file(d.pairs[i]).Path)
			if _, ok := out[name]; ok {
				i = -1
			}
			out[name] = i
		}
		return out
	}
	went := count(d.untaken(), func(p Pair) *File { return p.Old })
	came := count(d.unmatched(), func(p Pair) *File { return p.New })
	for _, i := range d.unmatched() {
		name := path.Base(d.pairs[i].New.Path)
		j, ok := went[name]
		if !ok || j < 0 || came[name] != i {
			continue
		}
		score, err := d.score(d.pairs[j].Old, d.pairs[i].New)
		if err != nil {
			return err
		}
		if score >= minNamed {
			d.rename(j, i, score)
		}
	}
	return nil
}

// candidate is a source and what may have come from it.
type candidate struct {
	from, came int
	score      int
	rank       int // by the score, and of the equally alike those with the same name first
	copied     bool
}

// similar matches the rest, what is most alike first; what is not taken by then may be a copy.
func (d *detector) similar() error {
	went, came := d.untaken(), d.unmatched()
	sources := went
	if d.similarCopies {
		sources = slices.Concat(d.went, d.stays)
	}
	if len(sources)*len(came) > maxCompared {
		if sources = went; len(sources)*len(came) > maxCompared {
			return nil
		}
	}
	var found []candidate
	for _, i := range came {
		for _, j := range sources {
			score, err := d.score(d.pairs[j].Old, d.pairs[i].New)
			if err != nil {
				return err
			}
			if score >= minScore {
				c := candidate{j, i, score, 2 * score, d.pairs[j].New != nil}
				if path.Base(d.pairs[j].Old.Path) == path.Base(d.pairs[i].New.Path) {
					c.rank++
				}
				found = append(found, c)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.rank, a.rank) })
	for _, c := range found {
		if !c.copied && !d.taken[c.from] && d.from[c.came].file == nil {
			d.rename(c.from, c.came, c.score)
		}
	}
	for _, c := range found {
		if d.similarCopies && (c.copied || d.taken[c.from]) && d.from[c.came].file == nil {
			d.from[c.came] = match{d.pairs[c.from].Old, c.score, true}
		}
	}
	return nil
}

// copies matches what still has no source with a file of the same content that is not empty.
func (d *detector) copies(others []*File) {
	byKey := map[string]*File{}
	add := func(f *File) {
		if f.Size > 0 && byKey[f.Key] == nil {
			byKey[f.Key] = f
		}
	}
	for _, i := range d.stays {
		add(d.pairs[i].Old)
	}
	for _, i := range d.went {
		if d.taken[i] {
			add(d.pairs[i].Old)
		}
	}
	for _, f := range others {
		add(f)
	}
	for _, i := range d.came {
		f := d.pairs[i].New
		if m := d.from[i]; m.file != nil && !(m.copied && m.score < 100) {
			continue
		}
		if old := byKey[f.Key]; old != nil && sameKind(old, f) {
			d.from[i] = match{old, 100, true}
		}
	}
}

// Score is how much of the larger of two files is in the other too, in percent; less than half is 0.
func Score(old, new *File, read Source) (int, error) {
	if old.Key == new.Key {
		return 100, nil
	}
	d := detector{ctx: context.Background(), read: read, chunks: map[*File]chunks{}}
	return d.score(old, new)
}

// score is how much of the larger file the two have in common, in percent; less than minScore is 0.
func (d *detector) score(old, new *File) (int, error) {
	large, small := max(old.Size, new.Size), min(old.Size, new.Size)
	if old.Mode == Symlink || new.Mode == Symlink || small == 0 || large > MaxText || small*100 < large*minScore {
		return 0, nil
	}
	a, err := d.chunksOf(old)
	if err != nil {
		return 0, err
	}
	b, err := d.chunksOf(new)
	if err != nil || a == nil || b == nil {
		return 0, err
	}
	if score := int(a.common(b) * 100 / large); score >= minScore {
		return score, nil
	}
	return 0, nil
}

// chunk is a line, or 64 bytes of one that is longer, and all the bytes in such.
type chunk struct {
	hash  uint64
	bytes int64
}

// chunks are those of a file, by hash.
type chunks []chunk

func (d *detector) chunksOf(f *File) (chunks, error) {
	if c, ok := d.chunks[f]; ok {
		return c, nil
	}
	if err := d.ctx.Err(); err != nil {
		return nil, err
	}
	if d.bytes += f.Size; d.bytes > maxRead {
		return nil, nil
	}
	data, err := d.read(f)
	if err != nil {
		return nil, err
	}
	c := chunksOf(data)
	d.chunks[f] = c
	return c, nil
}

func chunksOf(data []byte) chunks {
	const longest = 64
	text := IsText(data)
	var all chunks
	for len(data) > 0 {
		h, n := uint64(14695981039346656037), int64(0) // FNV-1a
		for len(data) > 0 {
			c := data[0]
			data = data[1:]
			if text && c == '\r' && len(data) > 0 && data[0] == '\n' {
				continue // line ends alone make no other file
			}
			h = (h ^ uint64(c)) * 1099511628211
			n++
			if n == longest || c == '\n' {
				break
			}
		}
		all = append(all, chunk{h, n})
	}
	slices.SortFunc(all, func(a, b chunk) int { return cmp.Compare(a.hash, b.hash) })
	out := all[:0]
	for _, c := range all {
		if last := len(out) - 1; last >= 0 && out[last].hash == c.hash {
			out[last].bytes += c.bytes
			continue
		}
		out = append(out, c)
	}
	return slices.Clip(out)
}

// common is how many bytes of the one are in the other.
func (c chunks) common(o chunks) (n int64) {
	for i, j := 0, 0; i < len(c) && j < len(o); {
		switch {
		case c[i].hash < o[j].hash:
			i++
		case c[i].hash > o[j].hash:
			j++
		default:
			n += min(c[i].bytes, o[j].bytes)
			i, j = i+1, j+1
		}
	}
	return n
}

// Between writes a rename as git does: the parts of the paths that differ in braces.
func Between(old, new string) string {
	prefix := 0
	for i := 0; i < len(old) && i < len(new) && old[i] == new[i]; i++ {
		if old[i] == '/' {
			prefix = i + 1
		}
	}
	suffix := 0
	for i := 1; i <= len(old) && i <= len(new) && old[len(old)-i] == new[len(new)-i]; i++ {
		if at := len(old) - i; old[at] == '/' && at >= prefix-1 && len(new)-i >= prefix-1 {
			suffix = i
		}
	}
	if prefix == 0 && suffix == 0 {
		return old + " => " + new
	}
	cut := func(s string) string { return s[prefix:max(len(s)-suffix, prefix)] }
	var b strings.Builder
	b.WriteString(old[:prefix] + "{" + cut(old) + " => " + cut(new) + "}" + old[len(old)-suffix:])
	return b.String()
}
