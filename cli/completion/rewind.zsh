#compdef rewind
# zsh completion for rewind
_rewind() {
    local -a candidates files directories
    local line value text
    while IFS= read -r line; do
        value=${line%%$'\t'*}
        text=${line#*$'\t'}
        [[ $text == "$line" ]] && text=
        case $text in
            file | link) files+=("$value") ;;
            directory) directories+=("$value") ;;
            *) candidates+=("${value//:/\\:}${text:+:$text}") ;;
        esac
    done < <("${words[1]}" __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
    if (( ${#files} + ${#directories} )); then
        (( ${#directories} )) && compadd -S '' -- "${directories[@]}"
        (( ${#files} )) && compadd -- "${files[@]}"
        return 0
    fi
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
