package project

import "github.com/rewind-cli/rewind/cas"

// Counting reports how many of some items are done, if the project has a Progress.
func (p *Project) Counting(phase, unit string) func(done, total int) {
	return func(done, total int) {
		if p.Progress != nil {
			p.Progress(ProgressInfo{Phase: phase, Unit: unit, Files: int64(done), TotalFiles: int64(total)})
		}
	}
}

// Copying reports how many bytes of packs are copied; nil without a Progress.
func Copying(tell Progress) func(cas.Checking) {
	if tell == nil {
		return nil
	}
	return func(c cas.Checking) {
		tell(ProgressInfo{Phase: "copy", Unit: "pack", Files: int64(c.Packs), TotalFiles: int64(c.AllPacks), Bytes: c.Bytes, TotalBytes: c.AllBytes})
	}
}
