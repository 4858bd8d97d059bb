package cas

import (
	"container/list"
	"sync"

	"github.com/rewind-cli/rewind/cas/pack"
)

// cacheBytes bounds the decoded blocks that are kept: 32 blocks of small
// objects, enough that restoring or exporting neighbours with a few goroutines
// decodes each block once.
const cacheBytes = 16 << 20

// blockCache keeps the blocks that were decoded last. A block that several
// goroutines want at once is decoded by one of them.
type blockCache struct {
	mu    sync.Mutex
	bytes int
	items map[cacheKey]*list.Element // of *cacheItem
	order list.List                  // newest first
}

// cacheKey is a place of a block: its pack or its batch, and its offset.
type cacheKey struct {
	owner  any
	offset int64
}

type cacheItem struct {
	key  cacheKey
	once sync.Once
	blk  *pack.Block
	err  error
	size int
}

func (c *blockCache) get(key cacheKey, load func() (*pack.Block, error)) (*pack.Block, error) {
	c.mu.Lock()
	e, ok := c.items[key]
	if ok {
		c.order.MoveToFront(e)
	} else {
		if c.items == nil {
			c.items = map[cacheKey]*list.Element{}
		}
		e = c.order.PushFront(&cacheItem{key: key})
		c.items[key] = e
	}
	item := e.Value.(*cacheItem)
	c.mu.Unlock()
	item.once.Do(func() {
		item.blk, item.err = load()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.items[key] != e {
			return
		}
		// A large object is alone in its block: there is no neighbour to read.
		if item.err != nil || len(item.blk.Entries) == 1 && len(item.blk.Body) >= pack.BlockSize {
			c.drop(e)
			return
		}
		item.size = len(item.blk.Body) + 80*len(item.blk.Entries)
		c.bytes += item.size
		for c.bytes > cacheBytes && c.order.Len() > 1 {
			c.drop(c.order.Back())
		}
	})
	return item.blk, item.err
}

// drop removes an element. The caller holds mu.
func (c *blockCache) drop(e *list.Element) {
	item := c.order.Remove(e).(*cacheItem)
	delete(c.items, item.key)
	c.bytes -= item.size
}

func (c *blockCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items, c.bytes = nil, 0
	c.order.Init()
}
