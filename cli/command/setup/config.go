package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rewind-cli/rewind/cli/app"
	"github.com/rewind-cli/rewind/cli/registration"
	"github.com/rewind-cli/rewind/engine/project"
	"github.com/rewind-cli/rewind/engine/settings"
)

func NewConfig() *app.Command {
	var f configFlags
	return &app.Command{
		Name:  "config",
		Usage: "[key [value]] [--tier T] [--global] [--unset] [--register-hooks [--agent A]] [--unregister-hooks] [--plugin DIR]",
		Short: "show or change settings",
		Long: "Without a value, shows settings and where each comes from. With one, changes the\n" +
			"project's settings, or those of the account with --global. Sizes may have units (10GiB);\n" +
			"lists are JSON arrays.\n\n" +
			"--register-hooks adds hooks that call rewind to the settings of the agents on this\n" +
			"account: all that are found, or the one given with --agent. The settings files are\n" +
			"edited in place, with a backup beside them; --unregister-hooks removes the hooks again.\n" +
			"--plugin writes a Claude Code plugin instead, with the hooks and the commands\n" +
			"/rewind:list, :restore, :undo, :redo, :revert, :back and :status. Use either the plugin\n" +
			"or the registered hooks, not both.\n\n" +
			"The tier says when hooks take checkpoints; the hooks are the same for all:\n" +
			"  minimal     when a session starts; none at prompts or calls\n" +
			"  balanced    also at prompts, stops, and before edits and shell commands, there\n" +
			"              at most every 30 seconds, or before a destructive command\n" +
			"  aggressive  also after shell commands, and at subagents' and sessions' ends;\n" +
			"              before edits and commands at most every 15 seconds",
		Examples: []app.Example{
			{Line: "rewind config", Does: "all settings"},
			{Line: "rewind config retention.maxSize 5GiB", Does: "at most 5 GiB for this project"},
			{Line: "rewind config --global ignore '[\"*.iso\"]'", Does: "for every project of this account"},
			{Line: "rewind config --tier aggressive", Does: "checkpoints more often here; outside of a project, for the account"},
			{Line: "rewind config --unset guard", Does: "back to the default"},
			{Line: "rewind config --register-hooks", Does: "let the agents call rewind"},
			{Line: "rewind config --unregister-hooks --agent claude", Does: "stop calling rewind from this one"},
		},
		Answers: app.Answers{"config": configView{}, "config-key": settingView{}, "register-hooks": registrationsView{}},
		MaxArgs: 2,
		Exits:   []int{app.ExitPartial},
		Flags: func(fs *pflag.FlagSet) {
			fs.StringVar(&f.tier, "tier", "", "set the `tier`: minimal, balanced or aggressive")
			fs.BoolVar(&f.global, "global", false, "change the account's settings, not the project's")
			fs.BoolVar(&f.unset, "unset", false, "remove the key from the file")
			fs.BoolVar(&f.register, "register-hooks", false, "add the hooks to the agents' settings")
			fs.BoolVar(&f.unregister, "unregister-hooks", false, "remove the hooks from the agents' settings")
			fs.StringVar(&f.agent, "agent", "", "only this agent's, by `name`: "+strings.Join(registration.Registrable(), ", "))
			fs.StringVar(&f.plugin, "plugin", "", "write a Claude Code plugin to a `directory`")
		},
		Run: func(ctx context.Context, c *app.Call) error { return runConfig(ctx, c, f) },
	}
}

type configFlags struct {
	tier          string
	global, unset bool

	register, unregister bool
	agent, plugin        string
}

func runConfig(ctx context.Context, c *app.Call, f configFlags) error {
	if f.register || f.unregister || c.Flags.Changed("plugin") || f.agent != "" {
		return configHooks(c, f)
	}
	key, value, change, err := configArgs(c, f)
	if err != nil {
		return err
	}
	store := ""
	if !f.global {
		if store, err = storeOrNone(ctx, c); err != nil {
			return err
		}
	}
	// The tier is a person's choice more than a project's.
	f.global = f.global || store == "" && c.Flags.Changed("tier")
	var file string
	if change {
		if file, err = settingsFile(c, store, f.global); err != nil {
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
		c.Out.Changed = true
		defer mirrorSettings(c)
	}
	set, warnings := project.LoadSettings(c.Env, store)
	for _, w := range warnings {
		c.Out.Warn("%s", w.Error())
	}
	if change && key == "tier" {
		if err := offerTierReset(c, set); err != nil {
			return err
		}
		set, _ = project.LoadSettings(c.Env, store)
	}
	if change && !f.unset {
		if err := tellOutranked(c, file, key); err != nil {
			return err
		}
	}
	return printSettings(c, set, warnings, store, key, change)
}

// configHooks is what config does with the agents' files.
func configHooks(c *app.Call, f configFlags) error {
	asked := 0
	for _, flag := range []bool{f.register, f.unregister, c.Flags.Changed("plugin")} {
		if flag {
			asked++
		}
	}
	switch {
	case asked == 0:
		return &app.UsageError{Msg: "--agent needs --register-hooks or --unregister-hooks", Hint: "rewind config --register-hooks --agent " + app.ShellQuote(f.agent)}
	case asked > 1:
		return app.Usagef("--register-hooks, --unregister-hooks and --plugin cannot be combined")
	case len(c.Args) > 0 || f.unset || f.global || c.Flags.Changed("tier"):
		return app.Usagef("settings and hooks cannot be changed in one command")
	case c.Flags.Changed("plugin") && f.plugin == "":
		return app.Usagef("--plugin needs a directory")
	case f.plugin != "":
		return writePlugin(c, f.plugin)
	}
	return registerHooks(c, f.agent, f.unregister)
}

// configArgs checks what was asked, before anything is opened.
func configArgs(c *app.Call, f configFlags) (key, value string, change bool, err error) {
	switch {
	case c.Flags.Changed("tier") && (len(c.Args) > 0 || f.unset):
		return "", "", false, app.Usagef("--tier takes no further arguments")
	case c.Flags.Changed("tier"):
		return "tier", f.tier, true, nil
	case f.unset && len(c.Args) != 1:
		return "", "", false, &app.UsageError{Msg: "--unset takes exactly one key", Hint: "rewind config --unset KEY"}
	case f.unset:
		return c.Args[0], "", true, nil
	case len(c.Args) == 2 && c.Args[1] == "":
		return "", "", false, &app.UsageError{Msg: "the value is an empty string", Hint: "rewind config --unset " + app.ShellQuote(c.Args[0])}
	case len(c.Args) == 2:
		return c.Args[0], c.Args[1], true, nil
	case len(c.Args) == 1:
		return c.Args[0], "", false, nil
	}
	return "", "", false, nil
}

// storeOrNone is the project's store, "" where there is no project.
func storeOrNone(ctx context.Context, c *app.Call) (string, error) {
	p, err := project.Open(ctx, c.OpenOptions())
	var (
		notInit *project.NotInitializedError
		refused *project.RefusedRootError
	)
	switch {
	case c.Root == "" && (errors.As(err, &notInit) || errors.As(err, &refused)):
		return "", nil
	case err != nil:
		return "", err
	}
	c.Project = p
	for _, notice := range p.Notices() {
		c.Out.Warn("%s", notice)
	}
	return p.StoreDir(), nil
}

// settingsFile is the file to change.
func settingsFile(c *app.Call, store string, global bool) (string, error) {
	switch {
	case !global && store != "":
		return filepath.Join(store, "config.json"), nil
	case !global:
		return "", app.Hinted(&project.NotInitializedError{Root: c.Env.Dir}, "--global changes the account's settings")
	case c.AccountFile() == "":
		return "", fmt.Errorf("the home directory, where the account's settings are, is not known")
	}
	file := c.AccountFile()
	return file, os.MkdirAll(filepath.Dir(file), 0o700)
}

// mirrorSettings keeps the copy up to date that a rebuilt store gets back.
func mirrorSettings(c *app.Call) {
	if c.Project == nil {
		return
	}
	if err := c.Project.MirrorSettings(); err != nil {
		c.Out.Warn("the settings could not be copied to the store's mirror: %v", err)
	}
}

// offerTierReset tells which values beat the new tier, and clears them if the person wants that.
func offerTierReset(c *app.Call, set *settings.Settings) error {
	if v, _ := set.Value("tier"); v.Origin.Source == settings.FromEnvironment {
		c.Out.Warn("%s overrides the tier with %s", v.Origin.Name, set.Tier)
	}
	for _, v := range set.ShadowsTier() {
		c.Out.Warn("%s is set in %s and takes precedence over the tier", v.Key, v.Origin.Name)
		if !c.Out.Interactive() {
			c.Out.Hint("%s", unsetCommand(v))
			continue
		}
		yes, err := c.Out.Ask("Clear %s?", v.Key)
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
func tellOutranked(c *app.Call, file, key string) error {
	store := ""
	if c.Project != nil {
		store = c.Project.StoreDir()
	} else if p, err := project.Open(context.Background(), c.OpenOptions()); err == nil {
		store = p.StoreDir()
		if err := p.Close(); err != nil {
			return err
		}
	}
	set, _ := project.LoadSettings(c.Env, store)
	v, ok := set.Value(key)
	switch {
	case !ok || v.Origin.Name == file:
	case v.Origin.Source == settings.FromEnvironment:
		c.Out.Summary("Written to %s.", app.Escape(file)) // a setting that overrides it was printed above
	default:
		c.Out.Warn("%s was written to %s, but in this project %s says %s", key, file, v.Origin.Name, settingText(v.Value))
		c.Out.Hint("%s", unsetCommand(v))
	}
	if key == "storage.mode" && c.Project != nil && v.Value != string(c.Project.Mode()) {
		c.Out.Warn("storage.mode takes effect when a store is created: the store of this project stays in %s mode", c.Project.Mode())
		c.Out.Hint("rewind stores rm ., then rewind init --mode %v: without its checkpoints", v.Value)
	}
	return nil
}

// inForce is a setting as it holds in the project: where its store lies was settled by init.
func inForce(c *app.Call, v settings.Value) settings.Value {
	if v.Key == "storage.mode" && c.Project != nil {
		v.Value, v.Origin = string(c.Project.Mode()), settings.Origin{Source: settings.FromStore, Name: c.Project.StoreDir()}
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

func printSettings(c *app.Call, set *settings.Settings, warnings []settings.Warning, store, key string, changed bool) error {
	projectFile := ""
	if store != "" {
		projectFile = filepath.Join(store, "config.json")
	}
	fallback := map[string]any{}
	for _, k := range settings.Keys() {
		fallback[k.Name] = k.Default()
	}
	if key != "" {
		v, ok := set.Value(key)
		if !ok {
			return &settings.KeyError{Key: key, Known: keyNames()}
		}
		v = inForce(c, v)
		switch {
		case c.JSON:
			return c.Out.Document(viewSetting(v, fallback[key]))
		case changed:
			c.Out.Summary("%s is %s (%s).", v.Key, withUnit(v), app.Escape(originText(v.Origin)))
		default:
			c.Out.Line("%s", app.Escape(settingText(v.Value)))
		}
		return nil
	}
	if c.JSON {
		return c.Out.Document(configView{AccountFile: c.AccountFile(), ProjectFile: projectFile, Warnings: app.Map(warnings, settings.Warning.Error),
			Settings: app.Map(set.Values(), func(s settings.Value) settingView { return viewSetting(inForce(c, s), fallback[s.Key]) })})
	}
	printSettingsTable(c, set, projectFile)
	return nil
}

func keyNames() []string {
	return app.Map(settings.Keys(), func(k settings.Key) string { return k.Name })
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

// withUnit is settingText, a number with its unit.
func withUnit(v settings.Value) string {
	keys := settings.Keys()
	i := slices.IndexFunc(keys, func(k settings.Key) bool { return k.Name == v.Key })
	if _, number := v.Value.(int64); i >= 0 && number {
		return strings.Join(readable(v.Value, keys[i]), " ")
	}
	return app.Escape(settingText(v.Value))
}

func originText(o settings.Origin) string {
	if o.Name == "" {
		return string(o.Source)
	}
	return strings.TrimSpace(string(o.Source) + " " + o.Name)
}
