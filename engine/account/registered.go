package account

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// registeredName is the file of the account that says up to which change the registration of each agent was brought.
// It can be lost: then a registration is completed once more.
const registeredName = "registered"

const (
	// maxRegistered is how many directories of agents it remembers.
	maxRegistered = 200
	// maxRegisteredFile bounds what is read of it, in bytes.
	maxRegisteredFile = 1 << 20
	// completeAgain is when it is tried again what failed.
	completeAgain = 24 * time.Hour
)

// Registration is what the account knows of the hooks of one agent, in one directory of its settings.
type Registration struct {
	Agent      string    `json:"agent"`
	Dir        string    `json:"dir"`
	Generation int       `json:"generation"` // up to which it was brought, by a person or by itself
	Time       time.Time `json:"time"`       // of that, or of the try
	Failed     string    `json:"failed,omitempty"`
	// MadeDirs are the directories that the registration made: they go with it where they are empty.
	MadeDirs []string `json:"made_dirs,omitempty"`
	// Completed are the files that were changed when it was completed by itself last.
	Completed []CompletedFile `json:"completed,omitempty"`
}

// CompletedFile is a settings file of an agent to which hooks were added.
type CompletedFile struct {
	File   string   `json:"file"`
	Backup string   `json:"backup,omitempty"`
	Added  []string `json:"added"`
}

// Behind reports whether the registration is to be looked at for what came up to a generation.
func (r *Registration) Behind(generation int, now time.Time) bool {
	if r.Generation >= generation {
		return false
	}
	since := now.Sub(r.Time)
	return r.Failed == "" || since < 0 || since >= completeAgain
}

// RegistrationOf is what is known, without a lock; the zero Registration, but for its names, where nothing is.
func RegistrationOf(env Env, agent, dir string) Registration {
	for _, r := range registrations(env) {
		if r.Agent == agent && r.Dir == dir {
			return r
		}
	}
	return Registration{Agent: agent, Dir: dir}
}

func registrations(env Env) (all []Registration) {
	data, err := vfs.ReadSmall(filepath.Join(env.AccountDir(), registeredName), maxRegisteredFile, vfs.NoFollow)
	if err != nil || json.Unmarshal(data, &all) != nil {
		return nil // it is made anew
	}
	return all
}

// UpdateRegistration changes what is known, alone: change may take its time, and sees what another process
// wrote meanwhile. Nothing is written where it returns false. Error: *BusyError.
func UpdateRegistration(ctx context.Context, env Env, agent, dir string, change func(*Registration) bool) error {
	accountDir, owner, err := env.MakeAccountDir()
	if err != nil {
		return err
	}
	file := filepath.Join(accountDir, registeredName)
	lock, err := LockFile(ctx, file+".lock", registeredName, true)
	if err != nil {
		return err
	}
	defer lock.Release()
	all := registrations(env)
	i := slices.IndexFunc(all, func(r Registration) bool { return r.Agent == agent && r.Dir == dir })
	r := Registration{Agent: agent, Dir: dir}
	if i >= 0 {
		r = all[i]
	}
	if !change(&r) {
		return nil
	}
	if i >= 0 {
		all = slices.Delete(all, i, i+1)
	}
	all = append(all[max(0, len(all)-maxRegistered+1):], r)
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(file, append(data, '\n'), owner)
}
