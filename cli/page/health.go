package page

import (
	"context"

	"github.com/rewind-cli/rewind/cli/picker"
	"github.com/rewind-cli/rewind/cli/report"
	"github.com/rewind-cli/rewind/cli/rows"
	"github.com/rewind-cli/rewind/cli/web"
	"github.com/rewind-cli/rewind/engine/inspect"
	"github.com/rewind-cli/rewind/engine/problem"
	"github.com/rewind-cli/rewind/engine/status"
	"github.com/rewind-cli/rewind/manifest"
)

// healthView is what is held and what is not.
type healthView struct {
	Status   report.StatusView  `json:"status"`
	Coverage []rows.ProblemView `json:"coverage"` // of the newest checkpoint
	Agents   string             `json:"agents"`   // as rewind status tells them
	Called   bool               `json:"called"`   // an agent calls rewind
}

func (s *space) health(ctx context.Context, _ web.Args) (any, error) {
	if s.own != nil {
		s = s.own
	}
	st, err := status.Of(ctx, s.P)
	if err != nil {
		return nil, err
	}
	out := healthView{Status: report.ViewStatus(st, s.P.Settings()), Coverage: []rows.ProblemView{}}
	agents := report.ViewAgents(s.C.Env, s.P.Root())
	out.Agents, out.Called = report.AgentsText(s.C.Out, agents, st.Generic), len(report.Calling(agents)) > 0 || st.Generic != nil
	if st.Last != nil {
		var all []problem.Problem
		if all, err = inspect.Coverage(ctx, s.P, st.Last.Checkpoint); err != nil {
			return nil, err
		}
		out.Coverage = rows.ViewProblems(all[:min(len(all), picker.MostFiles)])
	}
	return out, nil
}

// seriesView are sizes over time, a point for each checkpoint, oldest first.
type seriesView struct {
	Time    []int64  `json:"time"` // ms
	Stored  []uint64 `json:"stored"`
	Files   []uint64 `json:"files"`
	Bytes   []uint64 `json:"bytes"`
	Changed []uint64 `json:"changed"` // paths
}

func (s *space) series(ctx context.Context, _ web.Args) (any, error) {
	var out seriesView
	err := s.P.Query(ctx, func(db *manifest.DB) error {
		for c, err := range db.Checkpoints(manifest.Query{}) {
			if err != nil {
				return err
			}
			out.Time = append(out.Time, c.Time.UnixMilli())
			out.Stored = append(out.Stored, c.StoredBytes)
			out.Files = append(out.Files, c.Files)
			out.Bytes = append(out.Bytes, c.Bytes)
			out.Changed = append(out.Changed, c.Added+c.Modified+c.Deleted)
		}
		return nil
	})
	return out, err
}
