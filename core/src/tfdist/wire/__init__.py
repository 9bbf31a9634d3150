"""The wire format: modules generated from proto/tfdist/v1 by `tox -e proto`."""
