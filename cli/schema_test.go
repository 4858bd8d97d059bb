package cli

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"
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

// The schemas in docs/schema describe the documents that the commands print: same
// fields, same types, at every depth.
func TestSchemas(t *testing.T) {
	for name, view := range map[string]any{
		"status": statusView{}, "stats": statsView{}, "config": configView{}, "validate": validateView{},
		"sessions": sessionsView{}, "stores": storesView{}, "stores-rm": removedView{}, "restore": restoredView{}, "register-hooks": registrationsView{},
	} {
		data, err := os.ReadFile("../docs/schema/" + name + ".schema.json")
		if err != nil {
			t.Fatal(err)
		}
		var s schema
		if err := json.Unmarshal(data, &s); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		compareSchema(t, name, s, reflect.TypeOf(view))
	}
}

func compareSchema(t *testing.T, at string, s schema, typ reflect.Type) {
	t.Helper()
	if typ.Kind() == reflect.Pointer {
		if !s.allows("null") {
			t.Errorf("%s can be null", at)
		}
		typ = typ.Elem()
	}
	kinds := map[reflect.Kind]string{
		reflect.Struct: "object", reflect.Map: "object", reflect.Slice: "array", reflect.String: "string", reflect.Bool: "boolean",
		reflect.Int: "integer", reflect.Int64: "integer", reflect.Uint64: "integer", reflect.Interface: "string",
	}
	if want := kinds[typ.Kind()]; want == "" || !s.allows(want) {
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
		case f.Anonymous && name == "":
			jsonFields(f.Type, visit)
		case f.IsExported():
			visit(name, strings.Contains(rest, "omitempty"), f.Type)
		}
	}
}
