#!/bin/sh
# symbols.sh NM PROGRAM LIST FOLDER: PROGRAM takes from libfreeipmi exactly what LIST names. Whoever adds a name has looked whether
# that function can change anything in a BMC.
set -eu
"$1" -D --undefined-only "$2" | awk '{ sub(/@.*/, "", $NF); print $NF }' | grep -E '^(ipmi_|fiid_|FIID_|tmpl_|unpack_|fill_|assemble_|rmcp_)' | LC_ALL=C sort -u >"$4/ipmi-symbols"
grep -v '^#' "$3" | LC_ALL=C sort -u | diff -u - "$4/ipmi-symbols" || {
  echo "binnacle-ipmi links other functions of FreeIPMI than $3 allows" >&2
  exit 1
}
if grep -E '^ipmi_cmd' "$4/ipmi-symbols" | grep -vE '^ipmi_cmd_(dcmi_)?get_'; then
  echo "a command that does not just read" >&2
  exit 1
fi
