package bucket

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/rewind-cli/rewind/cas/vfs"
)

// processTime bounds a program that is asked for credentials: it may wait for a person's touch of a key.
const processTime = time.Minute

// profileName is the profile that is meant, and whether somebody chose it.
func (w *wallet) profileName() (name string, chosen bool) {
	name = cmp.Or(w.profile, w.getenv("AWS_PROFILE"), w.getenv("AWS_DEFAULT_PROFILE"))
	if name == "" {
		return "default", false
	}
	return name, true
}

// readProfile returns the settings of the profile. Those of the credentials file replace those of the configuration file. found is false where no file has it.
func (w *wallet) readProfile() (settings map[string]string, found bool, err error) {
	name, _ := w.profileName()
	settings = map[string]string{}
	for _, file := range []struct{ variable, base, section string }{
		{"AWS_CONFIG_FILE", "config", "profile " + name},
		{"AWS_SHARED_CREDENTIALS_FILE", "credentials", name},
	} {
		path := w.getenv(file.variable)
		if path == "" {
			if w.home == "" {
				continue
			}
			path = filepath.Join(w.home, ".aws", file.base)
		}
		text, rerr := vfs.ReadRegular(path, 0)
		if rerr != nil {
			if !errors.Is(rerr, fs.ErrNotExist) {
				err = rerr
			}
			continue
		}
		if section(string(text), settings, file.section, name) {
			found = true
		}
	}
	return settings, found, err
}

// section adds the settings of a section to those that are known; it reports whether it is there. A section "default" needs no "profile" before its name.
func section(text string, settings map[string]string, names ...string) (found bool) {
	inside := false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';' {
			continue
		}
		if trimmed[0] == '[' {
			head, _, _ := strings.Cut(trimmed[1:], "]")
			head = strings.Join(strings.Fields(strings.ReplaceAll(head, `"`, "")), " ")
			inside = head == names[0] || names[1] == "default" && head == "default"
			found = found || inside
			continue
		}
		key, value, ok := strings.Cut(trimmed, "=")
		if !inside || !ok || line[0] == ' ' || line[0] == '\t' { // an indented line belongs to the setting before it
			continue
		}
		for _, mark := range []string{" #", " ;", "\t#", "\t;"} {
			value, _, _ = strings.Cut(value, mark)
		}
		settings[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
	}
	return found
}

// fromProfile takes the credentials of the profile; without one, or if it has none, it returns no keys.
func (w *wallet) fromProfile(ctx context.Context) (aws.Credentials, error) {
	name, chosen := w.profileName()
	settings, found, err := w.readProfile()
	source := fmt.Sprintf("the profile %q", name)
	fail := func(next string, err error) (aws.Credentials, error) {
		return aws.Credentials{}, refuse(source, next, err)
	}
	switch {
	case err != nil:
		return fail("Make the file readable for your user.", err)
	case !found && chosen:
		return fail("Write it into ~/.aws/credentials, or choose another by AWS_PROFILE or ?profile= in the URL.", errors.New("no file has this profile"))
	}
	key, secret := settings["aws_access_key_id"], settings["aws_secret_access_key"]
	switch {
	case (key == "") != (secret == ""):
		return fail("Give it both aws_access_key_id and aws_secret_access_key.", errors.New("one of the two keys is missing"))
	case key != "":
		return aws.Credentials{AccessKeyID: key, SecretAccessKey: secret, SessionToken: settings["aws_session_token"], Source: source}, nil
	case settings["role_arn"] != "" && settings["web_identity_token_file"] != "":
		return w.webIdentity(ctx, settings["web_identity_token_file"], settings["role_arn"], settings["role_session_name"])
	}
	var command []string
	byHand := settings["credential_process"]
	switch process := settings["credential_process"]; {
	case process != "" && runtime.GOOS == "windows":
		command = []string{"cmd.exe", "/C", process}
	case process != "":
		command = []string{"sh", "-c", process}
	case settings["sso_session"] != "" || settings["sso_start_url"] != "" || settings["role_arn"] != "" || settings["login_session"] != "":
		// What only the program of AWS can do, it does: it renews a login, and takes a role by another profile.
		command = []string{"aws", "configure", "export-credentials", "--profile", name, "--format", "process"}
		byHand = strings.Join(command, " ")
	default:
		return aws.Credentials{}, nil
	}
	got, err := run(ctx, command, source)
	if ctx.Err() != nil {
		return got, ctx.Err()
	}
	if errors.Is(err, exec.ErrNotFound) {
		return fail("Install the program aws, or give the profile a credential_process.", fmt.Errorf("its credentials are handed out by the program %s, which is not there", command[0]))
	}
	if err != nil {
		return fail(fmt.Sprintf("Try it by hand: %s", byHand), err)
	}
	return got, nil
}

// run asks a program for credentials.
func run(ctx context.Context, command []string, source string) (aws.Credentials, error) {
	ctx, cancel := context.WithTimeout(ctx, processTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if reason := clean(stderr.String(), 300); reason != "" {
			err = fmt.Errorf("%w: %s", err, reason)
		}
		return aws.Credentials{}, err
	}
	return parseIssued(out, source)
}
