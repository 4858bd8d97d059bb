package transcript

import (
	"bytes"
	"fmt"
	"go/build"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// sources are the texts of the standard library: what an agent reads and writes.
var sources = sync.OnceValue(func() (texts []string) {
	for _, dir := range []string{"net/http", "go/types", "encoding/json", "os", "crypto/tls", "regexp", "text/template"} {
		files, _ := filepath.Glob(filepath.Join(build.Default.GOROOT, "src", dir, "*.go"))
		for _, f := range files {
			if b, err := os.ReadFile(f); err == nil {
				texts = append(texts, string(b))
			}
		}
	}
	return texts
})

// realistic is a transcript of n bytes in the proportions of real ones: tool
// calls and results full of source text, in part twice, prompts, metadata.
func realistic(tb testing.TB, n int) []byte {
	texts := sources()
	if len(texts) == 0 {
		tb.Skip("no sources of the standard library here to make a transcript of")
	}
	var b bytes.Buffer
	parent := "null"
	rnd := rand.New(rand.NewPCG(1, 2))
	piece := func(n int) string {
		t := texts[rnd.IntN(len(texts))]
		at := rnd.IntN(len(t))
		t = t[at:min(len(t), at+n)]
		return strings.Trim(js(strings.ToValidUTF8(t, "")), `"`)
	}
	for i := 0; b.Len() < n; i++ {
		code := piece(200 + rnd.IntN(8000))
		part := func(n int) string { return strings.TrimRight(code[:min(n, len(code))], `\`) }
		id := fmt.Sprintf("%08x-1111-4222-8333-%012x", i, i)
		common := fmt.Sprintf(`"uuid":%q,"timestamp":"2026-11-20T20:29:18.362Z","userType":"external","cwd":"/srv/p","sessionId":"61933d95-0000-4000-8000-000000000000","version":"2.1.329","gitBranch":"main"}`, id)
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"promptId":%q,"type":"user","message":{"role":"user","content":"please do thing %d"},%s`+"\n", parent, id, i, common)
		case 1:
			fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"message":{"model":"m","id":"msg_%d","type":"message","role":"assistant","content":[{"type":"text","text":"Now I look.\n\n%s"}],"usage":{"input_tokens":11,"cache":{"a":1,"b":[1,2,3]}}},"requestId":"r","type":"assistant",%s`+"\n", parent, i, part(200), common)
		case 2:
			fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"message":{"model":"m","id":"msg_%d","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_%d","name":"Edit","input":{"file_path":"/srv/p/a.go","old_string":"%s","new_string":"%s"}}]},"type":"assistant",%s`+"\n", parent, i-1, i, part(800), piece(800), common)
		case 3:
			fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%d","type":"tool_result","content":"%s"}]},"toolUseResult":{"stdout":"%s","structuredPatch":[{"lines":["-a","+b"]}]},%s`+"\n", parent, i-1, code, code, common)
		}
		parent = `"` + id + `"`
	}
	return b.Bytes()
}

func BenchmarkRead(b *testing.B) {
	data := realistic(b, 20<<20)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(Claude, bytes.NewReader(data)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadLongLine(b *testing.B) {
	data := []byte(`{"type":"user","uuid":"a","message":{"role":"user","content":[{"type":"tool_result","content":"` + strings.Repeat("0123456789abcdef", 20<<16) + `"}]}}` + "\n")
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(Claude, bytes.NewReader(data)); err != nil {
			b.Fatal(err)
		}
	}
}

// What a hook costs beside a transcript of 100 MB: nothing new, one line new.
func BenchmarkCapture(b *testing.B) {
	data := realistic(b, 100<<20)
	s := newSession(b, Claude, b.TempDir())
	s.write(data)
	s.run()
	b.Run("unchanged", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.run()
		}
	})
	b.Run("one line", func(b *testing.B) {
		f, err := os.OpenFile(s.file, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		line := data[:bytes.IndexByte(data, '\n')+1]
		b.ReportAllocs()
		for b.Loop() {
			f.Write(line)
			s.run()
		}
	})
}
