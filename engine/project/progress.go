package project

// Counting tells how many of some items are done; nil where nobody wants to know.
func (p *Project) Counting(phase, unit string) func(done, total int) {
	if p.Progress == nil {
		return nil
	}
	return func(done, total int) {
		p.Progress(ProgressInfo{Phase: phase, Unit: unit, Files: int64(done), TotalFiles: int64(total)})
	}
}
