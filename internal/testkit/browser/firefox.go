package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Firefox is a running Firefox with one tab, driven over Marionette, its own protocol, which needs no driver. Its methods
// are for one goroutine.
type Firefox struct {
	dir  string
	ends io.Closer // ends it
	conn net.Conn
	in   *bufio.Reader
	id   int
}

// ErrNoFirefox says that there is none.
var ErrNoFirefox = errors.New("no firefox is installed")

const downloads = "downloads" // in its profile

// prefs keep it from asking others for anything, and from showing pages of its own.
const prefs = `user_pref("marionette.port", 0);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("browser.startup.page", 0);
user_pref("browser.newtabpage.enabled", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("toolkit.telemetry.enabled", false);
user_pref("app.update.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("browser.safebrowsing.malware.enabled", false);
user_pref("browser.safebrowsing.phishing.enabled", false);
user_pref("services.settings.server", "data:,");
user_pref("extensions.update.enabled", false);
user_pref("browser.download.folderList", 2);
user_pref("browser.download.dir", %q);
`

// StartFirefox starts a headless Firefox with an empty profile in dir, which is removed when it ends. It ends when it is
// closed, or with this process.
func StartFirefox(dir string) (*Firefox, error) {
	file, err := exec.LookPath("firefox-esr")
	if err != nil {
		if file, err = exec.LookPath("firefox"); err != nil {
			return nil, ErrNoFirefox
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "user.js"), fmt.Appendf(nil, prefs, filepath.Join(dir, downloads)), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command("/bin/sh", "-c", `"$@" & read _; kill $!; wait; rm -rf "$0"`, dir, file, "--headless", "--no-remote", "--marionette", "--remote-allow-system-access", "--profile", dir)
	cmd.Env = append(os.Environ(), "HOME="+dir, "MOZ_HEADLESS_WIDTH=1280", "MOZ_HEADLESS_HEIGHT=800", "MOZ_CRASHREPORTER_DISABLE=1")
	ends, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	f := &Firefox{dir: dir, ends: ends}
	if err := f.attach(dir); err != nil {
		return nil, errors.Join(err, ends.Close(), cmd.Wait())
	}
	return f, nil
}

// attach waits for the port that it chose, and begins a session.
func (f *Firefox) attach(dir string) error {
	port := 0
	for end := time.Now().Add(patience); port == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return errors.New("firefox opens no port")
		}
		data, _ := os.ReadFile(filepath.Join(dir, "MarionetteActivePort")) // it is there once it listens
		port, _ = strconv.Atoi(strings.TrimSpace(string(data)))
	}
	var err error
	if f.conn, err = net.Dial("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err != nil {
		return err
	}
	f.in = bufio.NewReader(f.conn)
	if _, err := f.message(); err != nil { // who it is
		return err
	}
	return f.send("WebDriver:NewSession", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{}}}, nil)
}

// message reads one message: its length, a colon, JSON.
func (f *Firefox) message() ([]byte, error) {
	if err := f.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	head, err := f.in.ReadString(':')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSuffix(head, ":"))
	if err != nil {
		return nil, err
	}
	data := make([]byte, n)
	_, err = io.ReadFull(f.in, data)
	return data, err
}

func (f *Firefox) send(command string, params map[string]any, value any) error {
	f.id++
	data, err := json.Marshal([]any{0, f.id, command, params})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(f.conn, "%d:%s", len(data), data); err != nil {
		return err
	}
	if data, err = f.message(); err != nil {
		return err
	}
	var failed *struct{ Error, Message string }
	var result json.RawMessage
	answer := []any{new(int), new(int), &failed, &result}
	switch err := json.Unmarshal(data, &answer); {
	case err != nil:
		return err
	case failed != nil:
		return fmt.Errorf("%s: %s: %s", command, failed.Error, failed.Message)
	case value == nil:
		return nil
	}
	var is struct{ Value json.RawMessage }
	if err := json.Unmarshal(result, &is); err != nil {
		return err
	}
	return json.Unmarshal(is.Value, value)
}

// Go opens an address.
func (f *Firefox) Go(url string) error {
	return f.send("WebDriver:Navigate", map[string]any{"url": url}, nil)
}

// Size makes the window as large.
func (f *Firefox) Size(width, height int) error {
	return f.send("WebDriver:SetWindowRect", map[string]any{"width": width, "height": height}, nil)
}

// Eval gives the value of an expression.
func (f *Firefox) Eval(expression string, value any) error {
	return f.send("WebDriver:ExecuteScript", map[string]any{"script": "return (" + expression + ")", "args": []any{}, "sandbox": nil, "newSandbox": false}, value)
}

// Until waits until an expression is true.
func (f *Firefox) Until(expression string) error {
	for end := time.Now().Add(patience / 2); ; time.Sleep(20 * time.Millisecond) {
		is := false
		if err := f.Eval("!!("+expression+")", &is); err != nil || is {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("firefox: never became true: %s", expression)
		}
	}
}

// Type presses keys, a character each; others by the code points that WebDriver gives them.
func (f *Firefox) Type(text string) error {
	var keys []any
	for _, r := range text {
		for _, what := range []string{"keyDown", "keyUp"} {
			keys = append(keys, map[string]any{"type": what, "value": string(r)})
		}
	}
	return f.send("WebDriver:PerformActions", map[string]any{"actions": []any{map[string]any{"type": "key", "id": "keys", "actions": keys}}}, nil)
}

// Keys of Type.
const (
	FoxEnter  = "\ue007"
	FoxEscape = "\ue00c"
	FoxRight  = "\ue014"
)

// Picture is what the window shows, as PNG.
func (f *Firefox) Picture() ([]byte, error) {
	var text string
	if err := f.send("WebDriver:TakeScreenshot", map[string]any{"full": false}, &text); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(text)
}

// Logged are the errors, warnings and violations of pages from a host.
func (f *Firefox) Logged(host string) (lines []string, err error) {
	if err := f.send("Marionette:SetContext", map[string]any{"value": "chrome"}, nil); err != nil {
		return nil, err
	}
	err = f.send("WebDriver:ExecuteScript", map[string]any{"args": []any{host},
		"script": `return Services.console.getMessageArray().filter((m) => m instanceof Ci.nsIScriptError && (m.sourceName + m.message).includes(arguments[0])).map((m) => m.message)`}, &lines)
	return lines, errors.Join(err, f.send("Marionette:SetContext", map[string]any{"value": "content"}, nil))
}

// Downloads is the directory of what pages let it keep.
func (f *Firefox) Downloads() string { return filepath.Join(f.dir, downloads) }

// Close ends it.
func (f *Firefox) Close() error { return errors.Join(f.conn.Close(), f.ends.Close()) }
