package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/rewind-cli/rewind/cli/app"
)

type schema struct {
	Type       any               `json:"type"` // a string or a list
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Items      *schema           `json:"items"`
}

func (s schema) allows(kind string) bool {
	if list, ok := s.Type.([]any); ok {
		return slices.Contains(list, any(kind))
	}
	return s.Type == kind
}

// views are the documents that the schemas in docs/schema describe, by the schema's name.
func views() map[string]any {
	all := map[string]any{"error": app.ErrorView{}, "version": versionView{}}
	for _, e := range entries() {
		maps.Copy(all, e.make().Answers)
	}
	return all
}

// The schemas in docs/schema describe the documents that the commands print: same
// fields, same types, at every depth. With -update, one that is not there is
// written; its descriptions are yours to add.
func TestSchemas(t *testing.T) {
	files := map[string]bool{}
	for name, view := range views() {
		file := schemaFile(name)
		files[file] = true
		data, err := os.ReadFile(file)
		if os.IsNotExist(err) && *update {
			data, err = writeSchema(file, name, reflect.TypeOf(view))
		}
		if err != nil {
			t.Fatal(err)
		}
		var s schema
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		compareSchema(t, name, s, reflect.TypeOf(view))
	}
	all, err := filepath.Glob(schemaFile("*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		if !files[file] {
			t.Errorf("%s describes nothing that views has", file)
		}
	}
}

func schemaFile(name string) string {
	return filepath.Join("..", "docs", "schema", name+".schema.json")
}

var schemaKinds = map[reflect.Kind]string{
	reflect.Struct: "object", reflect.Map: "object", reflect.Slice: "array", reflect.String: "string", reflect.Bool: "boolean", reflect.Float64: "number",
	reflect.Int: "integer", reflect.Int64: "integer", reflect.Uint64: "integer", reflect.Interface: "string",
}

func compareSchema(t *testing.T, at string, s schema, typ reflect.Type) {
	t.Helper()
	if typ.Kind() == reflect.Pointer {
		if !s.allows("null") {
			t.Errorf("%s can be null", at)
		}
		typ = typ.Elem()
	}
	if want := schemaKinds[typ.Kind()]; want == "" || !s.allows(want) {
		t.Errorf("%s is %v, the schema says %v", at, typ, s.Type)
	}
	switch typ.Kind() {
	case reflect.Slice:
		if s.Items == nil {
			t.Errorf("%s has no items in the schema", at)
			return
		}
		compareSchema(t, at+"[]", *s.Items, typ.Elem())
	case reflect.Struct:
		fields := map[string]reflect.Type{}
		var required []string
		jsonFields(typ, func(name string, optional bool, f reflect.Type) {
			fields[name] = f
			if !optional {
				required = append(required, name)
			}
		})
		for name, f := range fields {
			if p, ok := s.Properties[name]; ok {
				compareSchema(t, at+"."+name, p, f)
			} else {
				t.Errorf("%s.%s is not in the schema", at, name)
			}
		}
		for name := range s.Properties {
			if _, ok := fields[name]; !ok {
				t.Errorf("%s.%s is in the schema only", at, name)
			}
		}
		sort.Strings(required)
		sort.Strings(s.Required)
		if !slices.Equal(required, s.Required) {
			t.Errorf("%s requires %v, the document always has %v", at, s.Required, required)
		}
	}
}

func jsonFields(typ reflect.Type, visit func(name string, optional bool, f reflect.Type)) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Pointer:
			jsonFields(f.Type.Elem(), func(name string, _ bool, f reflect.Type) { visit(name, true, f) })
		case f.Anonymous && name == "":
			jsonFields(f.Type, visit)
		case f.IsExported() && name != "-":
			optional, of := strings.Contains(rest, "omitempty"), f.Type
			if optional && of.Kind() == reflect.Pointer {
				of = of.Elem() // left out rather than null
			}
			visit(name, optional, of)
		}
	}
}

// writeSchema writes the schema of a type, without descriptions.
func writeSchema(file, name string, typ reflect.Type) ([]byte, error) {
	body := strings.TrimPrefix(schemaOf(typ, ""), "{")
	text := "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"title\": \"rewind " + name + " --json\"," + body
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), os.WriteFile(file, out.Bytes(), 0o644)
}

func schemaOf(typ reflect.Type, null string) string {
	if typ.Kind() == reflect.Pointer {
		return schemaOf(typ.Elem(), `"null"`)
	}
	kind := `"` + schemaKinds[typ.Kind()] + `"`
	if null != "" {
		kind = "[" + kind + "," + null + "]"
	}
	switch typ.Kind() {
	case reflect.Slice:
		return `{"type":` + kind + `,"items":` + schemaOf(typ.Elem(), "") + `}`
	case reflect.Struct:
		var properties, required []string
		jsonFields(typ, func(name string, optional bool, f reflect.Type) {
			properties = append(properties, fmt.Sprintf("%q:%s", name, schemaOf(f, "")))
			if !optional {
				required = append(required, fmt.Sprintf("%q", name))
			}
		})
		return `{"type":` + kind + `,"properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(required, ",") + `],"additionalProperties":true}`
	}
	return `{"type":` + kind + `}`
}
