#!/bin/sh
# symbols.sh NM PROGRAM LIST: PROGRAM takes from libfreeipmi exactly what LIST names. Whoever adds a name has looked whether
# that function can change anything in a BMC.
set -eu
taken=$(mktemp)  # the build folder may be another user's
trap 'rm -f "$taken"' EXIT
"$1" -D --undefined-only "$2" | awk '{ sub(/@.*/, "", $NF); print $NF }' | grep -E '^(ipmi_|fiid_|FIID_|tmpl_|unpack_|fill_|assemble_|rmcp_)' | LC_ALL=C sort -u >"$taken"
grep -v '^#' "$3" | LC_ALL=C sort -u | diff -u - "$taken" || {
  echo "binnacle-ipmi links other functions of FreeIPMI than $3 allows" >&2
  exit 1
}
if grep -E '^ipmi_cmd' "$taken" | grep -vE '^ipmi_cmd_(dcmi_)?get_'; then
  echo "a command that does not just read" >&2
  exit 1
fi
