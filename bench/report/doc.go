// Package report is what the benchmarks found, and how it is written down: as
// JSON (the Report itself), as a short table for the README and a full one, both
// Markdown.
package report
