package project

import (
	"path/filepath"

	"github.com/rewind-cli/rewind/engine/account"
	"github.com/rewind-cli/rewind/engine/scan"
)

// StatCacheFile is where the stat cache lies.
func (p *Project) StatCacheFile() string { return filepath.Join(p.at.Store, account.StatCacheName) }

// StatCache loads the stat cache if it is of this generation of the store.
func (p *Project) StatCache(generation uint64) (*scan.Cache, error) {
	cache, err := scan.LoadCache(p.StatCacheFile())
	if err != nil || cache == nil {
		return nil, err
	}
	s := ReadStamp(cache.Stamp())
	if s.Generation != generation {
		return nil, nil
	}
	holds, err := p.Store.Holds(s.At)
	if err != nil || !holds {
		return nil, p.Classify(err)
	}
	return cache, nil
}
