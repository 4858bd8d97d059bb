//go:build linux

// Command picture draws docs/session.svg: rewind at a terminal, after one of several agents has done harm. It is the program
// itself that runs; when the person comes, its clock is some minutes ahead, so that there are ages to be seen.
//
//	go run ./bench/picture docs/session.svg
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rewind-cli/rewind/cli"
	"github.com/rewind-cli/rewind/engine/account"
)

// clockVariable makes this program rewind, whose clock is that far ahead.
const clockVariable = "REWIND_PICTURE_CLOCK"

func main() {
	if ahead, err := time.ParseDuration(os.Getenv(clockVariable)); err == nil {
		env := account.Environment()
		env.Now = func() time.Time { return time.Now().Add(ahead) }
		os.Exit(cli.Main(append([]string{"rewind"}, os.Args[1:]...), env, cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./bench/picture FILE")
		os.Exit(2)
	}
	if err := draw(os.Args[1], pause); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// pause is how much older than the last turn the others are.
const pause = 26 * time.Second

func draw(file string, pause time.Duration) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "rewind-picture-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	s, err := newSession(program, dir, pause)
	if err != nil {
		return err
	}
	frames, err := s.play()
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(svg(frames, len(frames)-2)), 0o644)
}
