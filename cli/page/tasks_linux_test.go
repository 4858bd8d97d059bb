package page

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rewind-cli/rewind/internal/testkit/browser"
)

const (
	taskSecret = "for-nobody-else-12345"
	taskCoupon = "package invoice\n\n// Coupon is what a code takes off.\nfunc Coupon(code string) int {\n\tif code == \"legacy-2019\" {\n\t\treturn 5\n\t}\n\treturn 0\n}\n"
)

// taskTotal is invoice/total.go with a first and a last part, far from each other.
func taskTotal(first, last string) string {
	return "package invoice\n\n" + first + "\n\n" + strings.Repeat("// The rows of an invoice are in the order in which they were bought.\n", 24) + "\n" + last + "\n"
}

var (
	taskSum   = [2]string{"// Total is the sum of the prices.\nfunc Total(prices []float64) (sum float64) {\n\tfor _, p := range prices {\n\t\tsum += p\n\t}\n\treturn sum\n}", "// Tax is what the state gets.\nconst Tax = 0.19"}
	taskCents = [2]string{"// Total is the sum of the prices, in whole cents.\nfunc Total(prices []float64) (sum float64) {\n\tfor _, p := range prices {\n\t\tsum += p\n\t}\n\treturn math.Round(sum*100) / 100\n}", "// Tax is what the state gets of it, rounded as the total is.\nconst Tax = 0.19"}
)

// newTasksLab is a program for invoices in which two sessions worked for a while: one of the prompts was tried twice, and a
// pipe is held by no checkpoint.
func newTasksLab(t *testing.T) *pageLab {
	t.Helper()
	l := newTurnsLab(t)
	l.write(".env", "TOKEN="+taskSecret+"\n")
	l.write("invoice/coupon.go", taskCoupon)
	l.ok(syscall.Mkfifo(filepath.Join(l.root, "queue"), 0o600))
	var large strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&large, "%x\n", sha256.Sum256([]byte(fmt.Sprint(i))))
	}
	l.play(
		pageTurn{"import <b>all</b> orders of the last year, so that the tests have something real to sum", "fixtures/orders.txt", large.String(), "Done with " + taskSecret + ".\n\nThere are 6,000 orders in `fixtures/orders.txt`, one a line:\n\n```\nhead -n 3 fixtures/orders.txt\n```"},
		pageTurn{"the total of an invoice", "invoice/total.go", taskTotal(taskSum[0], taskSum[1]), "`Total` sums the prices."},
		pageTurn{"drop the coupon that nobody has used since 2019", "invoice/coupon.go", strings.Replace(taskCoupon, "\tif code == \"legacy-2019\" {\n\t\treturn 5\n\t}\n", "", 1), "It is gone."},
		pageTurn{"round the total to whole cents, and say so of the tax", "invoice/total.go", taskTotal(taskCents[0], taskCents[1]), "Both are in whole cents now."},
	)
	l.other().play(pageTurn{"write a README for those who come after us: what a total is, what a tax is, and where the fixtures are from", "README.md", "# Invoices\n\nA total is the sum of the prices, in whole cents.\n", "README.md is there."})
	l.play(pageTurn{"make Add faster", "calc.go", "package calc\n\nfunc Add(a, b int) int { return a - b }\n", "One instruction now."})
	l.rewind("restore", "prompt~1", "--yes", "--session", pageSession)
	l.play(pageTurn{"make Add right", "calc.go", "package calc\n\nfunc Add(a, b int) int { return b + a }\n", "It adds."})
	return l
}

// Whoever opens the page does twelve things in it, in both browsers, as somebody does who has never seen it: the words on
// the buttons lead there.
func TestPageTasks(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	for _, name := range []string{"Chromium", "Firefox"} {
		t.Run(name, func(t *testing.T) {
			l := newTasksLab(t)
			l.serve()
			kept := t.TempDir()
			if name == "Firefox" {
				kept = l.lookInFirefox()
			} else {
				l.look()
				l.ok(l.Send("Page.setDownloadBehavior", map[string]any{"behavior": "allow", "downloadPath": kept}, nil))
			}
			l.until(`document.querySelector(".live.on") && document.querySelector(".legend")`)
			l.ok(l.Eval(`void Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => void (window.copied = text) } })`, nil))
			l.tasks(name, kept)
			l.clean()
		})
	}
}

// tasks does the twelve things. What is downloaded comes into kept.
func (l *pageLab) tasks(name, kept string) {
	const total, coupon = "invoice/total.go", "invoice/coupon.go"
	chosen := func(text string) {
		l.t.Helper()
		l.until(fmt.Sprintf(`document.querySelector(".row.chosen")?.textContent.includes(%q) && document.querySelector(".right[aria-busy=false]")`, text))
	}
	prompt := func(text string) { // among the prompts alone
		l.t.Helper()
		l.click("nav a", "timeline")
		l.until(`document.querySelector("select[aria-label='Which rows']")`)
		l.ok(l.Eval(`(() => { const s = document.querySelector("select[aria-label='Which rows']"); s.value = "prompts"; s.dispatchEvent(new Event("change", { bubbles: true })); })()`, nil))
		l.click(".row.k-prompt", text)
		chosen(text)
	}
	plan := func(verb, done string) {
		l.t.Helper()
		l.until(fmt.Sprintf(`document.querySelector("dialog .go:not([disabled])")?.textContent.startsWith(%q)`, verb))
		l.click("dialog .go:not([disabled])", verb)
		l.until(fmt.Sprintf(`!document.querySelector("dialog") && [...document.querySelectorAll(".done")].some((e) => e.textContent.includes(%q))`, done))
	}
	undo := func() {
		l.t.Helper()
		l.click("header button", "Undo…")
		plan("Undo", "Undone")
	}
	file := func(name string) {
		l.t.Helper()
		l.click("nav a", "files")
		if dir, _, ok := strings.Cut(name, "/"); ok {
			l.click(".tree summary", dir)
		}
		l.click(".tree button", filepath.Base(name))
		l.until(`document.querySelector(".versions li .by") && ![...document.querySelectorAll(".versions .by")].some((e) => e.textContent.startsWith("…"))`)
	}
	holds := func(file, want string) {
		l.t.Helper()
		if got := l.read(file); got != want {
			l.t.Errorf("%s has %q", file, got)
		}
	}
	download := func(pattern, end string) (data string) {
		l.t.Helper()
		for over := time.Now().Add(time.Minute); !strings.HasSuffix(data, end); time.Sleep(20 * time.Millisecond) {
			if files, _ := filepath.Glob(filepath.Join(kept, pattern)); len(files) == 1 {
				read, _ := os.ReadFile(files[0])
				data = string(read)
			}
			if time.Now().After(over) {
				l.t.Fatalf("no %s came: %q", pattern, data)
			}
		}
		return data
	}

	for _, task := range []struct {
		what string
		do   func()
	}{
		{"what changed at a prompt", func() {
			prompt("drop the coupon")
			l.until(`[...document.querySelectorAll(".right .patch .out")].some((e) => e.textContent.includes("legacy-2019")) && document.querySelector(".facts-line").textContent.includes("1 file +0 −3")`)
			l.until(`document.querySelector(".talk .here")?.textContent.includes("drop the coupon") && document.querySelector(".talk").textContent.includes("It is gone.")`)
		}},
		{"which prompt wrote a line", func() {
			file(total)
			l.click(".version .pair button", "All lines")
			l.until(`[...document.querySelectorAll(".whole tr:has(button)")].map((e) => e.querySelector(".no").textContent).join() === "1,3,4,8,9,36,37"`)
			l.until(`[...document.querySelectorAll(".whole tr")].find((e) => e.textContent.includes("math.Round")).querySelector("button").title.includes("Write")`)
			l.click(".whole tr:nth-child(8) button", "round the total")
			chosen("round the total")
			l.until(`[...document.querySelectorAll(".right .patch .in")].some((e) => e.textContent.includes("math.Round"))`)
		}},
		{"an older version of a file", func() {
			file(total)
			l.until(`document.querySelectorAll(".versions li").length === 2`)
			l.click(".versions li:last-child button", "the total of an invoice")
			l.until(`[...document.querySelectorAll(".version .patch .in")].some((e) => e.textContent.includes("return sum"))`)
			l.click(".version button", "Download")
			if got := download("total*.go", "\n"); got != taskTotal(taskSum[0], taskSum[1]) {
				l.t.Errorf("the copy has %q", got)
			}
		}},
		{"two attempts", func() {
			prompt("make Add right")
			l.click(".right button", "Attempts")
			l.until(`document.querySelectorAll(".attempts section").length === 2 && document.querySelector(".attempts .current h3").textContent.includes("make Add right")`)
			l.click(".attempts button", "Compare with attempt 1")
			l.until(`document.querySelector(".at-compare .right[aria-busy=false] .patch .in")?.textContent.includes("b + a") && document.querySelector(".at-compare .patch .out").textContent.includes("a - b")`)
		}},
		{"where a word vanished", func() {
			l.enter("legacy-2019")
			l.until(`document.querySelector(".place .files[role=status]")?.textContent === "1 line"`)
			l.click(".place .lines td:last-child button", "drop the coupon")
			chosen("drop the coupon")
			l.until(`[...document.querySelectorAll(".right .patch .out")].some((e) => e.textContent.includes("legacy-2019"))`)
		}},
		{"one turn undone", func() {
			prompt("drop the coupon")
			l.click(".right button", "Revert this turn…")
			l.until(`document.querySelector("dialog h2")?.textContent.startsWith("Revert ") && document.querySelector("dialog .sum").textContent.startsWith("1 to replace")`)
			plan("Revert", "Reverted")
			holds(coupon, taskCoupon)
			holds("calc.go", "package calc\n\nfunc Add(a, b int) int { return b + a }\n") // what came later stays
			undo()
		}},
		{"what takes the space", func() {
			l.click("nav a", "space")
			l.until(`document.querySelector(".at-space tbody tr")?.textContent.includes("import <b>all</b> orders") && document.querySelector(".at-space tbody tr .path").textContent === "fixtures/orders.txt"`)
			l.until(`/KiB on disk/.test(document.querySelector(".at-space .sum").textContent) && document.querySelectorAll(".at-space table").length === 2`)
			l.click(".at-space tbody tr button", "import")
			chosen("import")
		}},
		{"share without secrets", func() {
			prompt("import")
			l.until(`document.querySelector(".talk").textContent.includes("` + taskSecret + `")`)
			l.ok(l.Eval(`window.making = false, new MutationObserver(() => (window.making ||= !!document.querySelector(".done progress"))).observe(document.body, { childList: true, subtree: true })`, nil))
			l.click(".right button", "Export session")
			l.until(`window.making && !document.querySelector(".done progress") && document.querySelector(".done")?.textContent.includes("in your downloads")`)
			if page := unpacked(l.t, download("proj-*.html", "</html>\n")); strings.Contains(page, taskSecret) || !strings.Contains(page, "Done with "+redactedMark) {
				l.t.Error("the page that is shared has the secret")
			}
		}},
		{"continue in the client", func() {
			prompt("make Add right")
			l.click(".right button", "Copy the session's resume command")
			l.until(`/^cd \S+ && claude --resume ` + pageSession + `$/.test(window.copied)`)
			l.click(".right button", "Restore…") // and from before a prompt
			l.click("dialog .halves label", "Conversation")
			l.until(`document.querySelector("dialog input[value=talk]").checked`)
			plan("Restore", "Restored")
			l.until(`/claude --resume [0-9a-f-]{36}/.test(document.querySelector(".done code").textContent) && !document.querySelector(".done code").textContent.includes("` + pageSession + `")`)
			undo()
		}},
		{"what is not captured", func() {
			l.click("nav a", "health")
			l.until(`document.querySelector(".at-health .warn")?.textContent.startsWith("1 path is not in the newest checkpoint") && document.querySelector(".at-health td .path").textContent === "queue"`)
		}},
		{"undo a wrong restore", func() {
			prompt("the total of an invoice")
			l.click(".right button", "Restore…")
			plan("Restore", "Restored to")
			holds(coupon, taskCoupon)
			if got := l.read("README.md") + l.read(total); strings.Count(got, "no such file") != 2 {
				l.t.Errorf("not restored: %s", got)
			}
			undo()
			holds("README.md", "# Invoices\n\nA total is the sum of the prices, in whole cents.\n")
			holds(total, taskTotal(taskCents[0], taskCents[1]))
		}},
		{"one hunk", func() {
			prompt("round the total")
			l.click(".right .file-links button", "restore…")
			l.until(`document.querySelectorAll("dialog .hunks input").length === 2 && document.querySelector("dialog .go:not([disabled])")`)
			l.ok(l.Eval(`void document.querySelectorAll("dialog .hunks input")[0].click()`, nil))
			l.until(`document.querySelector("dialog h2").textContent.includes("1 of 2 hunks of total.go") && !document.querySelector("dialog .lines")`) // of which one would stay
			plan("Restore", "Restored")
			holds(total, taskTotal(taskCents[0], taskSum[1]))
		}},
	} {
		all := l.t
		ended := all.Run(task.what, func(t *testing.T) {
			l.t = t
			defer func() { l.t = all }()
			task.do()
			l.picture("task-" + strings.ToLower(name) + "-" + strings.ReplaceAll(task.what, " ", "-"))
		})
		if !ended {
			return // the next begin where this one would have led
		}
	}
}

// lookInFirefox opens the page in a Firefox that ends with the test, and gives the directory of its downloads. Without one
// the test is skipped, unless REWIND_FIREFOX=required.
func (l *pageLab) lookInFirefox() (kept string) {
	l.t.Helper()
	profile, err := os.MkdirTemp("", "rewind-firefox-") // firefox, which ends after the test, removes it
	l.ok(err)
	f, err := browser.StartFirefox(profile)
	if err != nil {
		l.ok(os.RemoveAll(profile))
	}
	if errors.Is(err, browser.ErrNoFirefox) && os.Getenv("REWIND_FIREFOX") != "required" {
		l.t.Skip("NOT TESTED HERE: ", err)
	}
	l.ok(err)
	t := l.t
	l.fox = f
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	l.ok(f.Go(l.url))
	return f.Downloads()
}

// Eval, Until and Picture are those of the browser that looks.
func (l *pageLab) Eval(expression string, to any) error {
	if l.fox != nil {
		return l.fox.Eval(expression, to)
	}
	return l.Browser.Eval(expression, to)
}

func (l *pageLab) Until(expression string) error {
	if l.fox != nil {
		return l.fox.Until(expression)
	}
	return l.Browser.Until(expression)
}

func (l *pageLab) Picture() ([]byte, error) {
	if l.fox != nil {
		return l.fox.Picture()
	}
	return l.Browser.Picture()
}

// Logged is what the page reported.
func (l *pageLab) Logged() []string {
	switch {
	case l.fox != nil:
		logged, err := l.fox.Logged("127.0.0.1")
		if err != nil {
			return []string{err.Error()}
		}
		return slices.DeleteFunc(logged, func(line string) bool {
			// Firefox advises against a list of which only what is seen is drawn, and before 148 it knows no trusted types.
			return strings.Contains(line, "scroll-linked positioning effect") || strings.Contains(line, "unknown directive") && strings.Contains(line, "trusted-types")
		})
	case l.Browser != nil:
		return l.Browser.Logged()
	}
	return nil
}

// enter searches for words in the content.
func (l *pageLab) enter(words string) {
	l.t.Helper()
	l.ok(l.Eval(`void document.querySelector("header input").select()`, nil))
	if l.fox != nil {
		l.ok(l.fox.Type(words + browser.FoxEnter))
		return
	}
	l.ok(l.Type(words))
	l.press("Enter")
}
