"""An example of a third party's plugin for tfdist."""
