#!/bin/sh
# Makes the virtual environment $1 with a Python that Hedgerow supports, or says in one sentence what is missing.
# PYTHON=… in the environment chooses the interpreter.
set -eu

venv=$1
here=${0%/*}

supported() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if supported "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

if supported "$venv/bin/python" && "$venv/bin/python" -c 'import pip' 2>/dev/null; then
    exit 0
fi

if ! python=$(find_python); then
    if [ -n "${PYTHON:-}" ]; then
        echo "PYTHON=$PYTHON is not a Python of version 3.11 or newer: name one that is, or leave PYTHON away." >&2
        exit 1
    fi
    if ! { [ "$(id -u)" = 0 ] && sh "$here/debian_packages.sh" python3 python3-venv && python=$(find_python); }; then
        echo "Hedgerow needs Python 3.11 or newer, and none was found: install one, or name it with PYTHON=PATH." >&2
        exit 1
    fi
fi

# Debian keeps ensurepip, without which no environment gets its pip, in a package of its own.
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    sh "$here/debian_packages.sh" "$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
fi
"$python" -m venv --clear "$venv"
