# bash completion for rewind
_rewind() {
    local cur=${COMP_WORDS[COMP_CWORD]} line text
    local -a words=("${COMP_WORDS[@]:1:COMP_CWORD}")
    COMPREPLY=()
    # bash splits words at : and = too, and leaves quotes in them: the whole line tells.
    if [[ -n ${COMP_LINE-} ]]; then
        words=(--bash "${COMP_LINE:0:COMP_POINT}" "$cur")
    fi
    while IFS= read -r line; do
        text=${line#*$'\t'}
        line=${line%%$'\t'*}
        case $text in
            file | link | directory)
                compopt -o filenames 2>/dev/null
                [[ $line == */ ]] && compopt -o nospace 2>/dev/null
                ;;
        esac
        COMPREPLY+=("$line")
    done < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 0 && $cur != -* ]]; then
        compopt -o default 2>/dev/null
    fi
}
complete -F _rewind rewind
