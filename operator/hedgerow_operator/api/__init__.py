"""The custom resources: types, names, reasons, and the checks that a manifest must pass."""
