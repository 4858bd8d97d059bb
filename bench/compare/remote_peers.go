package main

import (
	"path/filepath"
	"strings"

	"github.com/rewind-cli/rewind/bench/measure"
	"github.com/rewind-cli/rewind/bench/report"
)

// remotePeer backs up to the server, below a prefix.
type remotePeer struct {
	name    string
	begin   func(p *project, prefix string) []measure.Command // makes an empty repository
	backup  func(p *project, prefix string) measure.Command
	restore func(p *project, prefix, target string) measure.Command // of the newest backup, into an empty directory
}

// remotePeers are those that are installed.
func (b *bench) remotePeers(s *s3) (all []remotePeer) {
	if b.has["restic"] {
		restic := func(dir, prefix string, arg ...string) measure.Command {
			return s.command(dir, append([]string{"restic", "-q", "-r", "s3:" + s.URL + "/" + s3Bucket + "/restic-" + prefix}, arg...)...)
		}
		all = append(all, remotePeer{"restic",
			func(p *project, prefix string) []measure.Command {
				return []measure.Command{restic(p.root, prefix, "init")}
			},
			func(p *project, prefix string) measure.Command {
				return restic(p.root, prefix, "backup", "--exclude", ".agent", ".")
			},
			func(p *project, prefix, target string) measure.Command {
				return restic(p.beside, prefix, "restore", "latest", "--target", target)
			}})
	}
	if b.has["kopia"] {
		kopia := func(dir, prefix string, arg ...string) measure.Command {
			config := filepath.Join(b.dir, "kopia-"+prefix)
			return s.command(dir, append([]string{b.program("kopia"), "--config-file", config, "--log-dir", filepath.Join(b.dir, "kopia.log"), "--no-progress"}, arg...)...)
		}
		all = append(all, remotePeer{"kopia",
			func(p *project, prefix string) []measure.Command {
				return []measure.Command{
					kopia(p.root, prefix, "repository", "create", "s3", "--bucket", s3Bucket, "--prefix", "kopia-"+prefix+"/", "--endpoint", strings.TrimPrefix(s.URL, "http://"), "--disable-tls",
						"--access-key", s3Key, "--secret-access-key", s3Secret, "--cache-directory", filepath.Join(b.dir, "kopia-"+prefix+".cache")),
					kopia(p.root, prefix, "policy", "set", "--global", "--compression", "zstd-fastest", "--add-ignore", ".agent"), // it compresses nothing by default
				}
			},
			func(p *project, prefix string) measure.Command {
				return kopia(p.root, prefix, "snapshot", "create", ".")
			},
			func(p *project, prefix, target string) measure.Command {
				return kopia(p.beside, prefix, "restore", p.root, target, "--snapshot-time", "latest")
			}})
	}
	return all
}

// findKopia builds it, from a module of its own: no package of Debian has it.
func (b *bench) findKopia() {
	_, err := b.goTool("bench/kopia", "build", "-o", b.program("kopia"), "github.com/kopia/kopia")
	if err != nil {
		b.note("kopia cannot be built: its numbers are left out: %v", err)
		return
	}
	b.has["kopia"] = true
	version, _, _ := strings.Cut(measure.Version(b.ctx, b.program("kopia"), "--version"), " ")
	b.out.Tools = append(b.out.Tools, "kopia "+version)
}

// remoteStart measures what each command pays for the remote before it does anything: its packages are initialised, and the program is larger.
func (b *bench) remoteStart() error {
	var subjects []*subject
	for _, build := range []struct {
		name, tags string
		role       report.Role
	}{{"with the packages of the store and of the page", "given,page", report.Floor}, {"and of the remote", "given,page,remote", report.Ours}} {
		program := b.program("bare-" + strings.ReplaceAll(build.tags, ",", "-"))
		if _, err := b.goTool(".", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "-tags", "nethttpomithttp2,"+build.tags, "./bench/bare"); err != nil {
			return err
		}
		c := measure.Command{Args: []string{program, "--version"}}
		subjects = append(subjects, &subject{role: build.role, Turn: measure.Turn{Name: build.name, Command: func(int) measure.Command { return c }}})
	}
	line, err := b.compare(comparison{what: "start of a bare program", tree: "no project", rounds: b.pick(800, 60), subjects: subjects})
	if err != nil {
		return err
	}
	budget(line, "≤ floor + 0.3 ms", overFloor(line, 1, 0.3))
	return nil
}

// doAll runs some commands that are not measured.
func (b *bench) doAll(all []measure.Command) error {
	for _, c := range all {
		if err := b.do(c); err != nil {
			return err
		}
	}
	return nil
}
