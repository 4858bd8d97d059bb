// highlight.js with the languages of colour.js. The grammars of TypeScript, C++ and SCSS do for JavaScript, C and CSS.
// Their order makes the bundle small: those that have words in common are near each other.
import hljs from "./highlight/core.js";
import xml from "./highlight/xml.js";
import swift from "./highlight/swift.js";
import json from "./highlight/json.js";
import typescript from "./highlight/typescript.js";
import go from "./highlight/go.js";
import php from "./highlight/php.js";
import python from "./highlight/python.js";
import rust from "./highlight/rust.js";
import kotlin from "./highlight/kotlin.js";
import csharp from "./highlight/csharp.js";
import ruby from "./highlight/ruby.js";
import yaml from "./highlight/yaml.js";
import cpp from "./highlight/cpp.js";
import java from "./highlight/java.js";
import lua from "./highlight/lua.js";
import perl from "./highlight/perl.js";
import diff from "./highlight/diff.js";
import makefile from "./highlight/makefile.js";
import ini from "./highlight/ini.js";
import markdown from "./highlight/markdown.js";
import dockerfile from "./highlight/dockerfile.js";
import sql from "./highlight/sql.js";
import bash from "./highlight/bash.js";
import scss from "./highlight/scss.js";
for (const [name, language] of Object.entries({ javascript: typescript, typescript, python, go, rust, c: cpp, cpp, java, kotlin, ruby, php, csharp, swift, bash, css: scss, scss, xml, json, yaml, ini, sql, markdown, lua, perl, diff, makefile, dockerfile })) hljs.registerLanguage(name, language);
export default hljs;
