#compdef rewind
# zsh completion for rewind
_rewind() {
    local -a candidates
    local line value text
    while IFS= read -r line; do
        value=${line%%$'\t'*}
        text=${line#*$'\t'}
        [[ $text == "$line" ]] && text=
        candidates+=("${value//:/\\:}${text:+:$text}")
    done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
    if (( ${#candidates} )); then
        _describe rewind candidates
    else
        _files
    fi
}
if [[ $funcstack[1] == _rewind ]]; then
    _rewind "$@"
else
    compdef _rewind rewind
fi
