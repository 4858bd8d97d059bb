package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rewind-cli/rewind/bench/measure"
	"github.com/rewind-cli/rewind/bench/report"
	"github.com/rewind-cli/rewind/bench/workload"
	"github.com/rewind-cli/rewind/internal/testkit/browser"
)

// pagePart measures what a person waits for who looks at the page of rewind ui, in a real browser.
func (b *bench) pagePart() error {
	profile := filepath.Join(b.dir, "browser")
	if err := os.Mkdir(profile, 0o755); err != nil {
		return err
	}
	chromium, err := browser.Start(profile, 1280, 800)
	if errors.Is(err, browser.ErrMissing) {
		b.note("page: NOT MEASURED: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer chromium.Close()
	time.Sleep(windowStart)
	if err := b.pageFloor(chromium); err != nil {
		return err
	}
	sizes := []int{1000}
	if !b.short {
		sizes = []int{10_000, 100_000}
	}
	for _, n := range sizes {
		p, err := b.manyCheckpoints(n)
		if err != nil {
			return err
		}
		if err := b.pageLine(chromium, p, n); err != nil {
			return fmt.Errorf("%s: %w", p.title, err)
		}
		if n > 10_000 {
			continue
		}
		line, err := b.compare(comparison{what: "list of all", tree: p.title, rounds: b.pick(11, 5), subjects: []*subject{b.ours(p, "list", "--limit", "0")}})
		if err != nil {
			return err
		}
		budget(line, "list --limit 0 ≤ 300 ms", 300)
	}
	return nil
}

// A person has a browser that runs, and rewind ui has it open one more tab. So the window is opened once, and is let load
// what a new one loads: the pages of its own address bar, in a process of their own, for a second and more. What went
// before a round is let end too.
const (
	windowStart = 3 * time.Second
	roundRest   = 700 * time.Millisecond
	// opening is how long after the address is known a tab goes there: what hands an address to a browser that runs, a
	// shell script and the browser's own command, takes that long. The server is at work meanwhile, as it is for a person.
	opening = 100 * time.Millisecond
)

// openTab opens a page for a round, that nobody watches: a stack for each request that is reported, and polls, cost it 5 ms and more of its own time.
func openTab(c *browser.Browser, script string) error {
	err := c.Tab(1280, 800)
	if err == nil {
		err = c.Send("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": script}, nil)
	}
	if err == nil {
		err = c.Unwatched()
	}
	time.Sleep(roundRest)
	return err
}

// pageFloor is what the same browser takes for a page that says one word, from a server that does nothing else, with and
// without the header that keeps a page of its own process; and from a click to the next frame.
func (b *bench) pageFloor(c *browser.Browser) error {
	const word = `<!doctype html><title>floor</title><button>word</button>`
	for _, policy := range []string{"", "same-origin"} {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			return err
		}
		srv := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Cache-Control", "no-store")
			if policy != "" {
				w.Header().Set("Cross-Origin-Opener-Policy", policy)
			}
			_, _ = io.WriteString(w, word)
		})}
		go func() { _ = srv.Serve(l) }() // until it is closed
		var paint, frame []float64
		for range b.pick(7, 3) {
			var first float64
			err := openTab(c, ";")
			if err == nil {
				err = c.Go("http://" + l.Addr().String() + "/")
			}
			if err == nil {
				err = c.Eval(firstPaint, &first)
			}
			var frames []float64
			if err == nil {
				err = c.Eval(nextFrame, &frames)
			}
			if err != nil {
				return errors.Join(err, srv.Close())
			}
			paint, frame = append(paint, first), append(frame, frames...)
		}
		if err := srv.Close(); err != nil {
			return err
		}
		with := ""
		if policy != "" {
			with = ", with Cross-Origin-Opener-Policy, as ours has it"
		}
		b.note("the page's floor in this browser, now: one word is painted after %.1f ms (at least %.1f)%s; a click is in the next frame after %.1f ms", quantile(paint, 0.5), quantile(paint, 0), with, quantile(frame, 0.5))
	}
	return nil
}

// manyCheckpoints makes a small project with a long log.
func (b *bench) manyCheckpoints(n int) (*project, error) {
	p := &project{name: fmt.Sprint("page-", n), root: filepath.Join(b.dir, "page", strconv.Itoa(n)), title: report.Count(n) + " checkpoints"}
	if err := os.MkdirAll(p.root, 0o755); err != nil {
		return nil, err
	}
	for f, lines := range workload.NewVersions(b.seed, 40, 60).Texts {
		if err := os.WriteFile(filepath.Join(p.root, fmt.Sprintf("file%02d.go", f)), []byte(strings.Join(lines, "")), 0o644); err != nil {
			return nil, err
		}
	}
	if err := b.ensureSaved(p); err != nil {
		return nil, err
	}
	const looked = 40
	for _, args := range [][]string{{"-glob", "file*.go", p.root, "0", fmt.Sprint(looked)}, {"-again", p.root, fmt.Sprint(looked), fmt.Sprint(n)}} {
		if err := b.do(measure.Command{Args: append([]string{b.program("history")}, args...)}); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// served is a rewind ui that runs.
type served struct {
	*exec.Cmd
	url   string
	ready time.Duration // from its start until it answered
}

func (b *bench) servePage(p *project) (*served, error) {
	began := time.Now()
	cmd := exec.CommandContext(b.ctx, b.rewind, "--root", p.root, "ui", "--no-open", "--json")
	cmd.Env = b.run.Env
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	s := &served{Cmd: cmd}
	var doc struct{ URL string }
	err = json.NewDecoder(bufio.NewReader(out)).Decode(&doc)
	if err == nil {
		s.url = doc.URL
		var r *http.Response
		if r, err = http.Get(s.url[:strings.Index(s.url, "/p/")] + "/"); err == nil {
			err = r.Body.Close()
		}
	}
	s.ready = time.Since(began)
	if err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

func (s *served) end() {
	_ = s.Process.Signal(os.Interrupt)
	_ = s.Wait() // it has served
}

// firstPaint waits for the first contentful paint, and gives its time.
const firstPaint = `new Promise((done) => new PerformanceObserver((list) => list.getEntriesByName("first-contentful-paint").forEach((e) => done(e.startTime))).observe({ type: "paint", buffered: true }))`

// watched records in the page when each thing that is waited for first appeared, and when the frame with the diff was drawn.
// The promise known resolves when all of them have.
const watched = `window.first = {}; let all; window.known = new Promise((done) => (all = done)); new MutationObserver(() => {
	const see = (what, is) => { if (!(what in first) && is()) { first[what] = performance.now(); if (what === "diff") requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = () => { first.shown = performance.now(); if (first.all) all(); }; c.port2.postMessage(0); }); if (what === "all" && first.shown) all(); } };
	see("rows", () => document.querySelector(".row"));
	see("diff", () => document.querySelector(".right .patch tr"));
	see("all", () => { const t = document.querySelector(".left .total"); return t && /\d/.test(t.textContent) && document.querySelector(".legend"); });
}).observe(document, { childList: true, subtree: true, attributes: true, characterData: true });`

// The page's own times, in milliseconds: of a click until the lines are drawn, of a filter until the rows are,
// and between the frames of a list that is scrolled from its beginning to its end.
const (
	nextFrame = `(async () => { const times = [], word = document.querySelector("button"), frame = () => new Promise(requestAnimationFrame);
	for (let i = 0; i < 10; i++) { await new Promise((done) => setTimeout(done, 20)); const from = performance.now(); word.onclick = () => (word.textContent = "word " + i); word.click(); await frame(); await frame(); times.push(performance.now() - from); } return times; })()`
	clicked = `(async () => { const times = []; const rows = document.querySelectorAll(".row:not(.k-operation)");
	for (let i = 2; i < 12 && i < rows.length; i++) {
		const head = document.querySelector(".right h2").textContent, from = performance.now();
		document.querySelectorAll(".row")[i].click();
		await new Promise((done) => { const look = () => document.querySelector(".right h2").textContent !== head && document.querySelector(".right[aria-busy=false] .patch tr") ? (o.disconnect(), done()) : 0;
			const o = new MutationObserver(look); o.observe(document.querySelector("main"), { childList: true, subtree: true, attributes: true, characterData: true }); setTimeout(() => (o.disconnect(), done()), 5000); });
		times.push(performance.now() - from);
		await new Promise((done) => setTimeout(done, 200)); // a person looks; colours come, and are none of the next click's time
	} return times; })()`
	filtered = `(async () => { const times = [], input = document.querySelector("header input");
	for (const text of ["parser", "lock", "turn 7", "nothing has this", ""]) {
		const from = performance.now();
		input.value = text; input.dispatchEvent(new Event("input", { bubbles: true }));
		await new Promise((done) => { const o = new MutationObserver(() => (o.disconnect(), done())); // other rows, be they as many as before
			o.observe(document.querySelector(".left"), { childList: true, subtree: true, attributes: true, characterData: true }); setTimeout(() => (o.disconnect(), done()), 1000); });
		times.push(performance.now() - from);
		await new Promise((done) => setTimeout(done, 200)); // until the list rests
	} return times; })()`
	scrolled = `(async () => { const times = [], list = document.querySelector(".timeline"), frame = () => new Promise(requestAnimationFrame);
	let last = await frame();
	for (let i = 1; i <= 150; i++) { list.scrollTop = list.scrollHeight * i / 150; const now = await frame(); times.push(now - last); last = now; }
	list.scrollTop = 0; return times; })()`
	fileShown = `(async () => { const times = [], there = (what) => new Promise((done) => { const look = () => document.querySelector(what) && (o.disconnect(), done());
		const o = new MutationObserver(look); o.observe(document, { childList: true, subtree: true }); look(); setTimeout(() => (o.disconnect(), done()), 5000); });
	for (let i = 0; i < 5; i++) {
		const from = performance.now(), before = location.pathname;
		history.pushState(null, "", before + "?at=file&path=file00.go"); dispatchEvent(new PopStateEvent("popstate"));
		await there(".versions li");
		times.push(performance.now() - from);
		history.back();
		await there(".row");
	} return times; })()`
)

// newsCalm is from when on a page that looks asks more rarely.
const newsCalm = 12 * time.Second

// quantile is of times, which it sorts.
func quantile(times []float64, q float64) float64 {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[min(int(q*float64(len(times))), len(times)-1)]
}

// pageLine opens the page some times, and then works with it.
func (b *bench) pageLine(c *browser.Browser, p *project, n int) error {
	line := &report.Line{What: "the page", Tree: p.title, Load: b.lookAtLoad(), Detail: n != 10_000}
	var ready, paint, diff, shown, all, start []float64
	var s *served
	for range b.pick(7, 3) {
		if s != nil {
			s.end()
		}
		version := exec.CommandContext(b.ctx, b.rewind, "--version")
		version.Env = b.run.Env
		began := time.Now()
		err := version.Run()
		start = append(start, float64(report.ToMillis(time.Since(began))))
		if err == nil {
			err = openTab(c, watched)
		}
		if err == nil {
			s, err = b.servePage(p)
		}
		if err != nil {
			return err
		}
		ready = append(ready, float64(report.ToMillis(s.ready)))
		time.Sleep(opening)
		var first struct{ Rows, Diff, Shown, All, Paint float64 }
		if err = c.Go(s.url); err == nil {
			err = c.Eval(`known`, nil)
		}
		if err == nil {
			err = c.Eval(firstPaint, &first.Paint)
		}
		if err == nil {
			err = c.Eval(`first`, &first)
		}
		if err != nil {
			s.end()
			return err
		}
		shown = append(shown, first.Shown)
		paint, diff, all = append(paint, first.Paint), append(diff, max(first.Diff, first.Rows)), append(all, first.All)
	}
	defer s.end()
	ours := &report.Subject{Name: "rewind ui", Role: report.Ours}
	for _, t := range diff {
		ours.Times = append(ours.Times, report.Millis(t))
	}
	ours.Median, ours.P90, ours.Min = report.Millis(quantile(diff, 0.5)), report.Millis(quantile(diff, 0.9)), report.Millis(diff[0])
	line.Subjects = []*report.Subject{ours}
	kept := func(what string, got, limit float64, unit string) {
		line.Budgets = append(line.Budgets, report.Budget{What: what, Got: got, Limit: limit, Unit: unit})
		b.say("the page, %s: %s: %.1f %s, of %g", p.title, what, got, unit, limit)
	}
	kept("ready ≤ 10 ms", quantile(ready, 0.5), 10, "ms")
	kept("first contentful paint ≤ 100 ms", quantile(paint, 0.5), 100, "ms")
	kept("rows and first diff ≤ 150 ms", float64(ours.Median), 150, "ms")
	line.Notes = append(line.Notes, fmt.Sprintf("rows and first diff are in the page; the frame that has them is drawn after %.0f ms (at least %.0f)", quantile(shown, 0.5), quantile(shown, 0)),
		fmt.Sprintf("ready: rewind --version takes %.1f ms (at least %.1f) from its start to its end", quantile(start, 0.5), quantile(start, 0)),
		fmt.Sprintf("at least: ready %.1f, paint %.0f, rows and diff %.0f, all known %.0f ms", quantile(ready, 0), quantile(paint, 0), quantile(diff, 0), quantile(all, 0)))
	for _, note := range line.Notes {
		b.say("the page, %s: %s", p.title, note)
	}
	if n <= 10_000 {
		kept("all known ≤ 300 ms", quantile(all, 0.5), 300, "ms")
	} else {
		line.Notes = append(line.Notes, fmt.Sprintf("all known after %.0f ms", quantile(all, 0.5)))
	}
	var click, filter, scroll, file []float64
	err := errors.Join(c.Eval(clicked, &click), c.Eval(filtered, &filter), c.Eval(scrolled, &scroll), c.Eval(fileShown, &file))
	if err != nil {
		return err
	}
	kept("click to diff ≤ 50 ms", quantile(click, 0.5), 50, "ms")
	kept("prompt search ≤ 16 ms", quantile(filter, 0.5), 16, "ms")
	if n <= 10_000 {
		kept("a file's versions ≤ 150 ms", quantile(file, 0.5), 150, "ms")
	} else {
		line.Notes = append(line.Notes, fmt.Sprintf("a file's versions after %.0f ms", quantile(file, 0.5)))
	}
	kept("a frame of scrolling ≤ 40 ms, p95", quantile(scroll, 0.95), 40, "ms")
	var heap struct{ UsedSize float64 }
	if err := errors.Join(c.Send("HeapProfiler.collectGarbage", nil, nil), c.Send("Runtime.getHeapUsage", nil, &heap)); err != nil {
		return err
	}
	kept("heap ≤ 25 MB", heap.UsedSize/1e6, 25, "MB")
	time.Sleep(newsCalm) // looks are rarer then
	const idle = 5 * time.Second
	before := cpuTime(s.Process.Pid)
	time.Sleep(idle)
	kept("idle CPU of the server < 0.1 %", 100*float64(cpuTime(s.Process.Pid)-before)/float64(idle), 0.1, "%")
	if err := b.newsOfPage(c, p, line); err != nil {
		return err
	}
	b.out.Lines = append(b.out.Lines, line)
	return nil
}

// newsOfPage saves once while the page looks: how long until its row is there, and what was sent for it.
func (b *bench) newsOfPage(c *browser.Browser, p *project, line *report.Line) error {
	if err := workload.Edit(filepath.Join(p.root, "file00.go"), b.seed+1); err != nil {
		return err
	}
	var sent, took float64
	err := c.Eval(`performance.clearResourceTimings()`, nil)
	began := time.Now()
	if err == nil {
		err = b.do(b.rewindCommand(p, "save", "a page looks", "--quiet"))
	}
	if err == nil {
		err = c.Until(`document.querySelector(".left").textContent.includes("a page looks")`)
		took = float64(report.ToMillis(time.Since(began)))
	}
	time.Sleep(time.Second) // whatever follows
	if err == nil {
		err = c.Eval(`performance.getEntriesByType("resource").reduce((n, e) => n + e.transferSize, 0)`, &sent)
	}
	line.Notes = append(line.Notes, fmt.Sprintf("a save is shown %.0f ms after it was begun, by %.0f kB", took, sent/1000))
	b.say("the page, %s: %s", p.title, line.Notes[len(line.Notes)-1])
	return err
}

// cpuTime is what a process of ours has used so far; 0 where the system does not tell.
func cpuTime(pid int) (sum time.Duration) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) // in ns: a tick of utime is 0.2 % of what is measured
	for _, file := range threads {
		data, _ := os.ReadFile(file) // a thread that ended meanwhile had little to do
		if fields := strings.Fields(string(data)); len(fields) > 0 {
			ns, _ := strconv.ParseInt(fields[0], 10, 64)
			sum += time.Duration(ns)
		}
	}
	return sum
}
