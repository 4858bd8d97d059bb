package cas

import "errors"

// Keep makes the batch durable in data packs, without a commit of the log: for objects of which something beside this log knows.
// The caller keeps gc away until that is written. The batch takes nothing more.
func (b *Batch) Keep() error {
	b.mu.Lock()
	if b.bulk == nil && len(b.staged) > 0 && b.err == nil && !b.done {
		b.bulk = &bulk{s: b.s, dense: b.dense}
		for _, k := range b.staged {
			if b.err = b.bulk.add(k, k.payload); b.err != nil {
				break
			}
		}
		b.staged, b.bytes = nil, 0
	}
	err := b.err
	b.mu.Unlock()
	if err != nil {
		return errors.Join(err, b.Discard())
	}
	return b.finish()
}
