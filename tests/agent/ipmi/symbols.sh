#!/bin/sh
# symbols.sh NM PROGRAM LIST SOURCES: PROGRAM takes from libfreeipmi exactly what LIST names. Whoever adds a name has looked
# whether that function can change anything in a BMC. ipmi_cmd can, so the folder SOURCES calls it once, for Get Sensor Reading.
set -eu
taken=$(mktemp)  # the build folder may be another user's
trap 'rm -f "$taken"' EXIT
"$1" -D --undefined-only "$2" | awk '{ sub(/@.*/, "", $NF); print $NF }' | grep -E '^(ipmi_|fiid_|FIID_|tmpl_|unpack_|fill_|assemble_|rmcp_)' | LC_ALL=C sort -u >"$taken"
grep -v '^#' "$3" | LC_ALL=C sort -u | diff -u - "$taken" || {
  echo "binnacle-ipmi links other functions of FreeIPMI than $3 allows" >&2
  exit 1
}
if grep -E '^(ipmi_cmd_|fill_cmd_)' "$taken" | grep -vE '^(ipmi|fill)_cmd_(dcmi_)?get_'; then
  echo "a command that does not just read" >&2
  exit 1
fi
calls=$(sed 's://.*::' "$4"/*.cpp | grep -cE '(^|[^_[:alnum:]])ipmi_cmd *\(' || true)
if [ "$calls" -ne 1 ]; then
  echo "ipmi_cmd is called $calls times below $4, and may be called once" >&2
  exit 1
fi
