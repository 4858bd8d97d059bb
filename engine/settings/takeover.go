package settings

import "github.com/tailscale/hujson"

// takenOver are the settings that the program which went before had in a project's file too.
var takenOver = []int{keyTier, keyAntiSpam, keyMinInterval, keySignificance, keyMinChangeSize, keyCriticalFiles}

// TakeOver puts what an older program's settings file of a project says into a file of ours, and
// names the keys. Its sections may stand below "runtime", and its tier be called "preset", as its
// later versions have it; what cannot be used is left out. Errors: *NotJSONError.
func TakeOver(into, older []byte) (out []byte, taken []string, err error) {
	d, err := parseObject(older)
	if err != nil {
		return into, nil, &NotJSONError{"the older settings file", err}
	}
	if d.o == nil {
		return into, nil, nil
	}
	var l loader // its warnings are about keys that are not taken
	var found [keyCount]slot
	l.object(d.o, "", "", FromProject, &found)
	l.parameters(d.o, "", Origin{Source: FromProject}, &found)
	if p, ok := find(d.o, "preset"); ok && found[keyTier].value == nil {
		if v, ok := keys[keyTier].decode(p.parent.Members[p.index].Value.Value); ok {
			found[keyTier].value = v
		}
	}
	out = into
	for _, i := range takenOver {
		text, ok := literal(found[i].value)
		if !ok {
			continue
		}
		if out, err = setKey(out, keys[i].Name, text); err != nil {
			return into, nil, &NotJSONError{"the settings file", err}
		}
		taken = append(taken, keys[i].Name)
	}
	return out, taken, nil
}

// literal is the JSON of a decoded value; ok is false for none.
func literal(value any) (hujson.Literal, bool) {
	switch v := value.(type) {
	case bool:
		return hujson.Bool(v), true
	case string:
		return hujson.String(v), true
	case int64:
		return hujson.Int(v), true
	case []string:
		return joinList(v), true
	}
	return nil, false
}
