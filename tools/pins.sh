#!/bin/sh
# Writes constraints.txt anew: installs the newest versions that pyproject.toml allows, and notes what came.
set -eu

venv=$1
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
"$venv/bin/python" -m venv "$new/venv"
"$new/venv/bin/python" -m pip install --quiet --upgrade 'pip>=25.1'
"$new/venv/bin/python" -m pip install --quiet --editable '.[all]' --group dev
{
    echo "# Versions that the tests passed with; \`make pins\` writes this file."
    "$new/venv/bin/python" -m pip freeze --exclude-editable
} >"$new/constraints.txt"
mv "$new/constraints.txt" constraints.txt
# The development environment was installed with the old versions: the next make installs the new ones.
echo "constraints.txt is new: run \`make test\`."
