package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/settings"
)

func newConfig() *command {
	var f configFlags
	return &command{
		name:  "config",
		usage: "[key [value]] [--tier T] [--global] [--unset] [--register-hooks [--agent A]] [--unregister-hooks] [--plugin DIR]",
		short: "show or change settings",
		long: "Without a value, shows settings and where each comes from. With one, changes the\n" +
			"project's settings, or those of the account with --global. Sizes may have units (10GiB);\n" +
			"lists are JSON arrays.\n\n" +
			"--register-hooks adds hooks that call rewind to the settings of the agents on this\n" +
			"account: all that are found, or the one given with --agent. The settings files are\n" +
			"edited in place, with a backup beside them; --unregister-hooks removes the hooks again.\n" +
			"The same hooks serve every tier. --plugin writes a Claude Code plugin instead, with the\n" +
			"hooks and the commands /rewind:list, :restore, :undo, :redo, :revert, :back and\n" +
			":status. Use either the plugin or the registered hooks, not both.",
		examples: []example{
			{"rewind config", "all settings"},
			{"rewind config retention.maxSize 5GiB", "at most 5 GiB for this project"},
			{"rewind config --global ignore '[\"*.iso\"]'", "for every project of this account"},
			{"rewind config --tier aggressive", "checkpoints more often here; outside of a project, for the account"},
			{"rewind config --unset guard", "back to the default"},
			{"rewind config --register-hooks", "let the agents call rewind"},
			{"rewind config --unregister-hooks --agent claude", "stop calling rewind from this one"},
		},
		maxArgs: 2,
		exits:   []int{exitPartial},
		flags: func(fs *pflag.FlagSet) {
			fs.StringVar(&f.tier, "tier", "", "set the `tier`: minimal, balanced or aggressive")
			fs.BoolVar(&f.global, "global", false, "change the account's settings, not the project's")
			fs.BoolVar(&f.unset, "unset", false, "remove the key from the file")
			fs.BoolVar(&f.register, "register-hooks", false, "add the hooks to the agents' settings")
			fs.BoolVar(&f.unregister, "unregister-hooks", false, "remove the hooks from the agents' settings")
			fs.StringVar(&f.agent, "agent", "", "only this agent's, by `name`: "+strings.Join(registrable(), ", "))
			fs.StringVar(&f.plugin, "plugin", "", "write a Claude Code plugin to a `directory`")
		},
		run: func(ctx context.Context, c *call) error { return runConfig(ctx, c, f) },
	}
}

type configFlags struct {
	tier          string
	global, unset bool

	register, unregister bool
	agent, plugin        string
}

func runConfig(ctx context.Context, c *call, f configFlags) error {
	if f.register || f.unregister || c.flags.Changed("plugin") || f.agent != "" {
		return c.configHooks(f)
	}
	key, value, change, err := configArgs(c, f)
	if err != nil {
		return err
	}
	store := ""
	if !f.global {
		if store, err = c.storeOrNone(ctx); err != nil {
			return err
		}
	}
	// The tier is a person's choice more than a project's.
	f.global = f.global || store == "" && c.flags.Changed("tier")
	var file string
	if change {
		if file, err = c.settingsFile(store, f.global); err != nil {
			return err
		}
		if f.unset {
			err = settings.Unset(file, key)
		} else {
			err = settings.Set(file, key, value)
		}
		if err != nil {
			return err
		}
		c.out.changed = true
		defer c.mirrorSettings()
	}
	set, warnings := project.LoadSettings(c.env, store)
	for _, w := range warnings {
		c.out.warn("%s", w.Error())
	}
	if change && key == "tier" {
		if err := c.offerTierReset(set); err != nil {
			return err
		}
		set, _ = project.LoadSettings(c.env, store)
	}
	if change && !f.unset {
		if err := c.tellOutranked(file, key); err != nil {
			return err
		}
	}
	return c.printSettings(set, warnings, store, key, change)
}

// configHooks is what config does with the agents' files.
func (c *call) configHooks(f configFlags) error {
	asked := 0
	for _, flag := range []bool{f.register, f.unregister, c.flags.Changed("plugin")} {
		if flag {
			asked++
		}
	}
	switch {
	case asked == 0:
		return &usageError{msg: "--agent needs --register-hooks or --unregister-hooks", hint: "rewind config --register-hooks --agent " + shellQuote(f.agent)}
	case asked > 1:
		return usagef("--register-hooks, --unregister-hooks and --plugin cannot be combined")
	case len(c.args) > 0 || f.unset || f.global || c.flags.Changed("tier"):
		return usagef("settings and hooks cannot be changed in one command")
	case c.flags.Changed("plugin") && f.plugin == "":
		return usagef("--plugin needs a directory")
	case f.plugin != "":
		return c.writePlugin(f.plugin)
	}
	return c.registerHooks(f.agent, f.unregister)
}

// configArgs checks what was asked, before anything is opened.
func configArgs(c *call, f configFlags) (key, value string, change bool, err error) {
	switch {
	case c.flags.Changed("tier") && (len(c.args) > 0 || f.unset):
		return "", "", false, usagef("--tier takes no further arguments")
	case c.flags.Changed("tier"):
		return "tier", f.tier, true, nil
	case f.unset && len(c.args) != 1:
		return "", "", false, &usageError{msg: "--unset takes exactly one key", hint: "rewind config --unset KEY"}
	case f.unset:
		return c.args[0], "", true, nil
	case len(c.args) == 2:
		return c.args[0], c.args[1], true, nil
	case len(c.args) == 1:
		return c.args[0], "", false, nil
	}
	return "", "", false, nil
}

// storeOrNone is the project's store, "" where there is no project.
func (c *call) storeOrNone(ctx context.Context) (string, error) {
	p, err := project.Open(ctx, c.openOptions())
	var (
		notInit *project.NotInitializedError
		refused *project.RefusedRootError
	)
	switch {
	case c.root == "" && (errors.As(err, &notInit) || errors.As(err, &refused)):
		return "", nil
	case err != nil:
		return "", err
	}
	c.project = p
	for _, notice := range p.Notices() {
		c.out.warn("%s", notice)
	}
	return p.StoreDir(), nil
}

// settingsFile is the file to change.
func (c *call) settingsFile(store string, global bool) (string, error) {
	switch {
	case !global && store != "":
		return filepath.Join(store, "config.json"), nil
	case !global:
		return "", &hintedError{&project.NotInitializedError{Root: c.env.Dir}, "--global changes the account's settings"}
	case c.accountFile() == "":
		return "", fmt.Errorf("the home directory, where the account's settings are, is not known")
	}
	file := c.accountFile()
	return file, os.MkdirAll(filepath.Dir(file), 0o700)
}

// mirrorSettings keeps the copy up to date that a rebuilt store gets back.
func (c *call) mirrorSettings() {
	if c.project == nil {
		return
	}
	if err := c.project.MirrorSettings(); err != nil {
		c.out.warn("the settings could not be copied to the store's mirror: %v", err)
	}
}

// offerTierReset tells which values beat the new tier, and clears them if the person wants that.
func (c *call) offerTierReset(set *settings.Settings) error {
	if v, _ := set.Value("tier"); v.Origin.Source == settings.FromEnvironment {
		c.out.warn("%s overrides the tier with %s", v.Origin.Name, set.Tier)
	}
	for _, v := range set.ShadowsTier() {
		c.out.warn("%s is set in %s and takes precedence over the tier", v.Key, v.Origin.Name)
		if !c.out.interactive() {
			c.out.hint("%s", unsetCommand(v))
			continue
		}
		yes, err := c.out.ask("Clear %s?", v.Key)
		if err != nil {
			return err
		}
		if yes {
			if err := settings.Unset(v.Origin.Name, v.Key); err != nil {
				return err
			}
		}
	}
	return nil
}

// tellOutranked says what beats a value that was just written to file: where the command was run,
// which an account's settings are not the last word for.
func (c *call) tellOutranked(file, key string) error {
	store := ""
	if c.project != nil {
		store = c.project.StoreDir()
	} else if p, err := project.Open(context.Background(), c.openOptions()); err == nil {
		store = p.StoreDir()
		if err := p.Close(); err != nil {
			return err
		}
	}
	set, _ := project.LoadSettings(c.env, store)
	v, ok := set.Value(key)
	switch {
	case !ok || v.Origin.Name == file:
	case v.Origin.Source == settings.FromEnvironment:
		c.out.summary("Written to %s.", escape(file)) // what overrides it has been said
	default:
		c.out.warn("%s was written to %s, but in this project %s says %s", key, file, v.Origin.Name, settingText(v.Value))
		c.out.hint("%s", unsetCommand(v))
	}
	if key == "storage.mode" && c.project != nil && v.Value != string(c.project.Mode()) {
		c.out.warn("storage.mode takes effect when a store is created: the store of this project stays in %s mode", c.project.Mode())
		c.out.hint("rewind stores rm ., then rewind init --mode %v: without its checkpoints", v.Value)
	}
	return nil
}

// inForce is a setting as it holds in the project: where its store lies was settled by init.
func (c *call) inForce(v settings.Value) settings.Value {
	if v.Key == "storage.mode" && c.project != nil {
		v.Value, v.Origin = string(c.project.Mode()), settings.Origin{Source: settings.FromStore, Name: c.project.StoreDir()}
	}
	return v
}

func unsetCommand(v settings.Value) string {
	if v.Origin.Source == settings.FromAccount {
		return "rewind config --global --unset " + v.Key
	}
	return "rewind config --unset " + v.Key
}

// settingView and configView are described by docs/schema/config.schema.json.
type settingView struct {
	Key     string `json:"key"`
	Value   any    `json:"value"`
	Default any    `json:"default"`
	Source  string `json:"source"`
	From    string `json:"from"`
}

type configView struct {
	Settings    []settingView `json:"settings"`
	AccountFile string        `json:"account_file"`
	ProjectFile string        `json:"project_file"`
	Warnings    []string      `json:"warnings"`
}

func viewSetting(v settings.Value, fallback any) settingView {
	return settingView{Key: v.Key, Value: listOrValue(v.Value), Default: listOrValue(fallback), Source: string(v.Origin.Source), From: v.Origin.Name}
}

// listOrValue makes an empty list [] and not null.
func listOrValue(v any) any {
	if list, ok := v.([]string); ok && list == nil {
		return []string{}
	}
	return v
}

func (c *call) printSettings(set *settings.Settings, warnings []settings.Warning, store, key string, changed bool) error {
	fallback := map[string]any{}
	for _, k := range settings.Keys() {
		fallback[k.Name] = k.Default()
	}
	if key != "" {
		v, ok := set.Value(key)
		if !ok {
			return &settings.KeyError{Key: key, Known: keyNames()}
		}
		v = c.inForce(v)
		switch {
		case c.json:
			return c.out.document(viewSetting(v, fallback[key]))
		case changed:
			c.out.summary("%s is %s (%s).", v.Key, escape(settingText(v.Value)), escape(originText(v.Origin)))
		default:
			c.out.line("%s", escape(settingText(v.Value)))
		}
		return nil
	}
	if c.json {
		v := configView{Settings: []settingView{}, AccountFile: c.accountFile(), Warnings: []string{}}
		if store != "" {
			v.ProjectFile = filepath.Join(store, "config.json")
		}
		for _, s := range set.Values() {
			v.Settings = append(v.Settings, viewSetting(c.inForce(s), fallback[s.Key]))
		}
		for _, w := range warnings {
			v.Warnings = append(v.Warnings, w.Error())
		}
		return c.out.document(v)
	}
	projectFile := ""
	if store != "" {
		projectFile = filepath.Join(store, "config.json")
	}
	c.printSettingsTable(set, projectFile)
	return nil
}

func keyNames() []string {
	var out []string
	for _, k := range settings.Keys() {
		out = append(out, k.Name)
	}
	return out
}

func settingText(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case []string:
		b, err := json.Marshal(v)
		if err != nil || v == nil {
			return "[]"
		}
		return string(b)
	case string:
		return v
	}
	return fmt.Sprint(v)
}

func originText(o settings.Origin) string {
	if o.Name == "" {
		return string(o.Source)
	}
	return strings.TrimSpace(string(o.Source) + " " + o.Name)
}
