package transcript

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// realistic is a transcript of n bytes in the proportions of real ones: long
// tool results with escapes, prompts, metadata.
func realistic(n int) []byte {
	var b bytes.Buffer
	parent := "null"
	code := strings.Repeat(`\tif err := f(\"name\", 12); err != nil {\n\t\treturn fmt.Errorf(\"x: %w\", err)\n\t}\n`, 40)
	for i := 0; b.Len() < n; i++ {
		id := fmt.Sprintf("%08x-1111-4222-8333-%012x", i, i)
		common := fmt.Sprintf(`"uuid":%q,"timestamp":"2026-11-20T20:29:18.362Z","userType":"external","cwd":"/srv/p","sessionId":"61933d95-0000-4000-8000-000000000000","version":"2.1.329","gitBranch":"main"}`, id)
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"promptId":%q,"type":"user","message":{"role":"user","content":"please do thing %d"},%s`+"\n", parent, id, i, common)
		case 1:
			fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"message":{"model":"m","id":"msg_%d","type":"message","role":"assistant","content":[{"type":"text","text":"Now I look.\n\n%s"}],"usage":{"input_tokens":11,"cache":{"a":1,"b":[1,2,3]}}},"requestId":"r","type":"assistant",%s`+"\n", parent, i, code[:200], common)
		case 2:
			fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"message":{"model":"m","id":"msg_%d","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_%d","name":"Edit","input":{"file_path":"/srv/p/a.go","old_string":"%s","new_string":"%s"}}]},"type":"assistant",%s`+"\n", parent, i-1, i, code[:800], code[:820], common)
		case 3:
			fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%d","type":"tool_result","content":"%s"}]},"toolUseResult":{"stdout":"%s","structuredPatch":[{"lines":["-a","+b"]}]},%s`+"\n", parent, i-1, code, code, common)
		}
		parent = `"` + id + `"`
	}
	return b.Bytes()
}

func BenchmarkRead(b *testing.B) {
	data := realistic(20 << 20)
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
