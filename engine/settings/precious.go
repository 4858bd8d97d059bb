package settings

// preciousFiles are what people keep in a project although git ignores it, and
// cannot get back: secrets, settings of one machine, small databases. The setting
// "precious" replaces the whole list. As everywhere in it, a name is a file's at any
// depth, and a name with a slash at its end a directory's with all below.
var preciousFiles = []string{
	// Settings of this machine and their secrets.
	".env", ".env.*", "*.env", ".envrc", ".dev.vars", ".flaskenv",
	"*.local", "*.local.*", "local.properties", "local_settings.py", "local.settings.json", "appsettings.Development.json",
	"docker-compose.override.yml", "docker-compose.override.yaml", "compose.override.yml", "compose.override.yaml",
	"secrets.yml", "secrets.yaml", "secrets.json", "secrets.toml", "credentials.json", "service-account*.json",
	"google-services.json", "GoogleService-Info.plist", "key.properties", "keystore.properties", "master.key",
	".npmrc", ".pypirc", ".netrc", ".htpasswd", ".vault_pass",

	// Keys and certificates.
	"*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.mobileprovision", "*.gpg", "*.asc", "*.age", "id_rsa", "id_ecdsa", "id_ed25519",

	// What describes machines that run.
	"*.tfvars", "*.tfvars.json", "*.tfstate", "*.tfstate.backup", "kubeconfig",

	// An editor's settings of the project.
	".vscode/", ".idea/", "*.code-workspace", ".dir-locals-2.el", ".exrc", ".nvimrc",

	// Small databases, with what belongs to them while they are in use.
	"*.sqlite", "*.sqlite-wal", "*.sqlite-journal", "*.sqlite3", "*.sqlite3-wal", "*.sqlite3-journal", "*.db", "*.db-wal", "*.db-journal",
}
