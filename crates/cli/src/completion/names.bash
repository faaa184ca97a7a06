
# Names of objects are asked of the cluster; everything else is known without.
_quad_with_names() {
    local cur="${COMP_WORDS[COMP_CWORD]}" kind="${COMP_WORDS[2]}" at where=()
    case "${COMP_WORDS[1]}" in
        get | describe | tree | wait | delete)
            if [[ $COMP_CWORD -ge 3 && $cur != -* && $kind != -* && ${COMP_WORDS[COMP_CWORD - 1]} != -* ]]; then
                for ((at = 3; at < COMP_CWORD; at++)); do
                    case "${COMP_WORDS[at]}" in
                        -n | --namespace | --kubeconfig | --context)
                            where+=("${COMP_WORDS[at]}" "${COMP_WORDS[at + 1]}") ;;
                    esac
                done
                COMPREPLY=($(compgen -W "$(quad get "$kind" "${where[@]}" -o name 2>/dev/null | sed 's|.*/||')" -- "$cur"))
                return 0
            fi
            ;;
        deploy | status | promote | approve | reject | rollback | undeploy | restart | history)
            if [[ $COMP_CWORD -eq 2 && $cur != -* ]]; then
                COMPREPLY=($(compgen -W "$(quad get components -o name 2>/dev/null | sed 's|.*/||')" -- "$cur"))
                return 0
            fi
            ;;
    esac
    _quad "$@"
}

complete -F _quad_with_names -o bashdefault -o default quad
