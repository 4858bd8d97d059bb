// Package browser drives a Chromium for tests, over its debugging pipe: no port, no library. It knows as much of
// the protocol as the tests of the page need.
package browser

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Browser is a running Chromium with one page. Its methods are for one goroutine.
type Browser struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	page string // session of the page
	tab  string // its target
	seen string // id of the context that Fresh made, "" for the first

	mu      sync.Mutex
	id      int
	waiting map[int]chan reply
	logged  []string // errors and violations that the page reported
	asked   []string // addresses that it requested
	gone    error
}

type reply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// ErrMissing says that there is no Chromium.
var ErrMissing = errors.New("no chromium is installed")

// names are those that distributions give it. The first one has no windows to draw, and takes a fraction of the processor time.
var names = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}

// patience bounds a wait for the browser.
const patience = 60 * time.Second

// Start starts a headless Chromium with an empty profile in dir, which is removed when it ends. It ends when it is
// closed, or with this process.
func Start(dir string, width, height int) (*Browser, error) {
	file := ""
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			file = found
			break
		}
	}
	if file == "" {
		return nil, ErrMissing
	}
	fromUs, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, toUs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/bin/sh", "-c", `"$@"; rm -rf "$0"`, dir, file, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
		"--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--user-data-dir="+dir, fmt.Sprintf("--window-size=%d,%d", width, height), "about:blank")
	cmd.ExtraFiles = []*os.File{fromUs, toUs} // 3 and 4
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	_, _ = fromUs.Close(), toUs.Close()
	b := &Browser{cmd: cmd, in: in, waiting: map[int]chan reply{}}
	go b.read(out)
	return b, b.attach(width, height)
}

func (b *Browser) attach(width, height int) error {
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	for end := time.Now().Add(patience); ; {
		if err := b.send("", "Target.getTargets", nil, &targets); err != nil {
			return err
		}
		for _, t := range targets.TargetInfos {
			if t.Type == "page" {
				if err := b.take(t.TargetID); err != nil {
					return err
				}
				return b.Size(width, height)
			}
		}
		if time.Now().After(end) {
			return errors.New("the browser has no page")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// read takes in what the browser says.
func (b *Browser) read(out io.Reader) {
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		data, err := r.ReadBytes(0)
		if err != nil {
			b.mu.Lock()
			b.gone = fmt.Errorf("the browser is gone: %w", err)
			for _, c := range b.waiting {
				close(c)
			}
			b.waiting = nil
			b.mu.Unlock()
			return
		}
		var m struct {
			ID     int
			Method string
			Params json.RawMessage
			reply
		}
		if json.Unmarshal(bytes.TrimSuffix(data, []byte{0}), &m) != nil {
			continue
		}
		b.mu.Lock()
		if m.ID != 0 {
			if c := b.waiting[m.ID]; c != nil {
				c <- m.reply
				delete(b.waiting, m.ID)
			}
		} else {
			b.note(m.Method, m.Params)
		}
		b.mu.Unlock()
	}
}

func (b *Browser) note(method string, params json.RawMessage) {
	switch method {
	case "Log.entryAdded":
		var p struct {
			Entry struct{ Level, Text, URL string }
		}
		if json.Unmarshal(params, &p) == nil && p.Entry.Level != "verbose" && p.Entry.Level != "info" {
			b.logged = append(b.logged, strings.TrimSpace(p.Entry.Text+" "+p.Entry.URL))
		}
	case "Runtime.exceptionThrown":
		var p struct {
			ExceptionDetails struct {
				Text      string
				Exception struct{ Description string }
			}
		}
		if json.Unmarshal(params, &p) == nil {
			b.logged = append(b.logged, p.ExceptionDetails.Text+" "+p.ExceptionDetails.Exception.Description)
		}
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		if json.Unmarshal(params, &p) == nil {
			b.asked = append(b.asked, p.Request.URL)
		}
	}
}

// Send calls a method of the page's; to may be nil.
func (b *Browser) Send(method string, params, to any) error {
	return b.send(b.page, method, params, to)
}

func (b *Browser) send(session, method string, params, to any) error {
	b.mu.Lock()
	if b.gone != nil {
		defer b.mu.Unlock()
		return b.gone
	}
	b.id++
	answer := make(chan reply, 1)
	b.waiting[b.id] = answer
	call := map[string]any{"id": b.id, "method": method}
	b.mu.Unlock()
	if params != nil {
		call["params"] = params
	}
	if session != "" {
		call["sessionId"] = session
	}
	data, err := json.Marshal(call)
	if err != nil {
		return err
	}
	if _, err := b.in.Write(append(data, 0)); err != nil {
		return err
	}
	select {
	case r, ok := <-answer:
		switch {
		case !ok:
			return errors.New(method + ": the browser is gone")
		case r.Error != nil:
			return errors.New(method + ": " + r.Error.Message)
		case to != nil:
			return json.Unmarshal(r.Result, to)
		}
		return nil
	case <-time.After(patience):
		return errors.New(method + ": no answer")
	}
}

// Go opens an address.
func (b *Browser) Go(url string) error {
	return b.Send("Page.navigate", map[string]any{"url": url}, nil)
}

// Open opens an address in another tab, which is the page from now on. The one before stays.
func (b *Browser) Open(url string) error {
	var target struct{ TargetID string }
	options := map[string]any{"url": url}
	if b.seen != "" {
		options["browserContextId"] = b.seen
	}
	if err := b.send("", "Target.createTarget", options, &target); err != nil {
		return err
	}
	return b.take(target.TargetID)
}

// Fresh opens an empty page that knows nothing of those before, which go, and forgets what was reported.
func (b *Browser) Fresh(width, height int) error {
	before := b.seen
	var context struct{ BrowserContextID string }
	if err := b.send("", "Target.createBrowserContext", nil, &context); err != nil {
		return err
	}
	var target struct{ TargetID string }
	if err := b.send("", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": context.BrowserContextID}, &target); err != nil {
		return err
	}
	b.seen = context.BrowserContextID
	if before != "" {
		if err := b.send("", "Target.disposeBrowserContext", map[string]any{"browserContextId": before}, nil); err != nil {
			return err
		}
	}
	if err := b.take(target.TargetID); err != nil {
		return err
	}
	b.mu.Lock()
	b.logged, b.asked = nil, nil
	b.mu.Unlock()
	return b.Size(width, height)
}

// Tab opens an empty page in the window of the one before, which goes: as a browser that runs already opens what a
// program gives it. A window of its own, as Fresh opens one, loads pages of the browser's own for a second or two.
func (b *Browser) Tab(width, height int) error {
	before := b.tab
	var target struct{ TargetID string }
	options := map[string]any{"url": "about:blank"}
	if b.seen != "" {
		options["browserContextId"] = b.seen
	}
	err := b.send("", "Target.createTarget", options, &target)
	if err == nil {
		err = b.take(target.TargetID)
	}
	if err == nil {
		err = b.send("", "Target.closeTarget", map[string]any{"targetId": before}, nil)
	}
	if err != nil {
		return err
	}
	return b.Size(width, height)
}

// Unwatched ends the reports of what the page asks for and says: they cost it time. Logged and Asked stay as they are.
func (b *Browser) Unwatched() error {
	for _, domain := range []string{"Network", "Log", "Runtime"} {
		if err := b.Send(domain+".disable", nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// take makes a target the page.
func (b *Browser) take(target string) error {
	var at struct{ SessionID string }
	if err := b.send("", "Target.attachToTarget", map[string]any{"targetId": target, "flatten": true}, &at); err != nil {
		return err
	}
	b.page, b.tab = at.SessionID, target
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		if err := b.Send(domain+".enable", nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// Size sets how much the page can be seen of, in CSS pixels.
func (b *Browser) Size(width, height int) error {
	return b.Send("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Media sets what the person's system asks for: prefers-color-scheme, forced-colors.
func (b *Browser) Media(features map[string]string) error {
	list := []map[string]string{}
	for name, value := range features {
		list = append(list, map[string]string{"name": name, "value": value})
	}
	return b.Send("Emulation.setEmulatedMedia", map[string]any{"features": list}, nil)
}

// Eval evaluates an expression, a promise too, and decodes its value; to may be nil.
func (b *Browser) Eval(expression string, to any) error {
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	err := b.Send("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	switch {
	case err != nil:
		return err
	case r.ExceptionDetails != nil:
		return fmt.Errorf("%s %s", r.ExceptionDetails.Text, r.ExceptionDetails.Exception.Description)
	case to == nil || r.Result.Value == nil:
		return nil
	}
	return json.Unmarshal(r.Result.Value, to)
}

// Until waits until an expression is true.
func (b *Browser) Until(expression string) error {
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		var ok bool
		err := b.Eval("!!("+expression+")", &ok)
		if ok {
			return nil
		}
		if time.Now().After(end) {
			return errors.Join(fmt.Errorf("never became true: %s", expression), err)
		}
	}
}

// Key presses a key as a keyboard does: "a", "Enter", "ArrowDown".
func (b *Browser) Key(key string) error {
	down := map[string]any{"type": "keyDown", "key": key}
	codes := map[string]int{"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "Tab": 9, " ": 32, "Home": 36, "End": 35}
	if n := codes[key]; n != 0 {
		down["windowsVirtualKeyCode"] = n
	}
	if len(key) == 1 {
		down["text"] = key
	}
	if key == "Enter" {
		down["text"] = "\r"
	}
	if err := b.Send("Input.dispatchKeyEvent", down, nil); err != nil {
		return err
	}
	return b.Send("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key}, nil)
}

// Type types a text into what has the focus.
func (b *Browser) Type(text string) error {
	return b.Send("Input.insertText", map[string]any{"text": text}, nil)
}

// Picture is what the page looks like, as PNG.
func (b *Browser) Picture() ([]byte, error) {
	var r struct{ Data string }
	if err := b.Send("Page.captureScreenshot", map[string]any{"format": "png"}, &r); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(r.Data)
}

// Logged are the errors and violations that the page has reported so far.
func (b *Browser) Logged() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.logged...)
}

// Asked are the addresses that it has requested so far.
func (b *Browser) Asked() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.asked...)
}

// Close ends the browser.
func (b *Browser) Close() {
	_ = b.send("", "Browser.close", nil, nil)
	_ = b.in.Close()
	ended := make(chan struct{})
	go func() { _ = b.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		_ = b.cmd.Process.Kill()
		<-ended
	}
}
