package ignore_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/engine/ignore"
)

// A top-level rule file as big projects have it: mostly suffixes and names, a few paths.
const bigRules = `
.*
*.a
*.asn1.[ch]
*.bin
*.bz2
*.c.[012]*.*
*.dt.yaml
*.dtb
*.dtbo
*.dtb.S
*.dwo
*.elf
*.gcno
*.gz
*.i
*.ko
*.lex.c
*.ll
*.lst
*.lz4
*.lzma
*.lzo
*.mod
*.mod.c
*.o
*.o.*
*.patch
*.s
*.so
*.so.dbg
*.su
*.symtypes
*.tab.[ch]
*.tar
*.xz
*.zst
Module.symvers
modules.builtin
modules.order
/linux
/vmlinux
/vmlinux.32
/System.map
/Module.markers
/*.spec
/debian/
/rpmbuild/
/include/config/
/include/generated/
/arch/*/include/generated/
/certs/*.pem
!.clang-format
!.gitignore
!.mailmap
patches-*
patches
series
cscope.*
ncscope.*
GPATH
GRTAGS
tags
TAGS
ID
*.orig
*~
\#*#
extra_certificates
x509.genkey
all.config
`

func bigScope(t testing.TB) *ignore.Scope {
	r := compile(t, ignore.Config{Exclude: []ignore.Source{{Name: "g", Text: []byte("*~\n.DS_Store\n*.swp\n")}}, StorePath: ".agent/rewind", ForceInclude: []string{"/x/y"}}, index{"a.o"})
	tree := files{".gitignore": bigRules, "drivers/gpu/.gitignore": "/gen\n*.tmp\n!keep.o\n"}
	s := r.Root(func(name string) []byte { return tree.read(name) })
	path := ""
	for _, dir := range []string{"drivers", "gpu", "drm"} {
		path += dir + "/"
		s = s.Child(dir, func(name string) []byte { return tree.read(path + name) })
	}
	return s
}

// The first scan asks once per name: nothing may be left for the collector.
func TestDecideDoesNotAllocate(t *testing.T) {
	s := bigScope(t)
	names := []string{"amdgpu_device.c", "Makefile", "x.h", "some_longer_name_than_thirty_two_bytes_is.asn1.x", "series2"}
	if n := testing.AllocsPerRun(100, func() {
		for _, name := range names {
			if d, rule := s.Decide(name, false); d != ignore.Capture {
				t.Fatalf("%s: %v %s", name, d, rule)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDecide(b *testing.B) {
	s := bigScope(b)
	names := make([]string, 64)
	for i := range names {
		names[i] = fmt.Sprintf("%s_%d.%c", strings.Repeat("x", i%20), i, "cho"[i%3])
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Decide(names[i%len(names)], false)
	}
}

func BenchmarkChild(b *testing.B) {
	s := bigScope(b)
	b.ReportAllocs()
	for b.Loop() {
		s.Child("amd", nil)
	}
}

func BenchmarkCompileBig(b *testing.B) {
	c := ignore.Config{Exclude: []ignore.Source{{Name: "g", Text: []byte(bigRules)}}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ignore.Compile(c); err != nil {
			b.Fatal(err)
		}
	}
}
